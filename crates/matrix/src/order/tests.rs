use proptest::prelude::*;

use super::band_k::{BandK, Coarsening, band_k, grouped};
use super::*;
use crate::generate::Generator;
use crate::verify::Reference;

const COARSENINGS: [Coarsening; 2] = [Coarsening::Hand, Coarsening::HeavyEdge];

fn generated(spec: &str) -> Csr<f64> {
    Generator::parse(spec).unwrap().generate().unwrap()
}

fn reordered(order: Order, csr: &Csr<f64>) -> Csr<f64> {
    csr.permuted(&order.compute(csr).unwrap().permutation)
}

/// Permutes the rows and columns of the matrix into an order without locality.
fn shuffled(csr: &Csr<f64>) -> Csr<f64> {
    let mut order: Vec<u32> = (0..csr.rows as u32).collect();
    order.sort_by_key(|&row| (u64::from(row) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
    csr.permuted(&order.into())
}

/// Generates square matrices, mostly unsymmetric, often with several components and empty rows.
fn square() -> impl Strategy<Value = Csr<f64>> {
    (1usize..60).prop_flat_map(|n| {
        let cells = prop::collection::btree_map((0..n, 0..n), -9.0..9.0f64, 0..3 * n);
        cells.prop_map(move |cells| {
            let triplets: Vec<_> = cells.into_iter().map(|((r, c), v)| (r, c, v)).collect();
            Csr::from_triplets(n, n, &triplets)
        })
    })
}

fn size() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![1, 2, 3, 8, 100])
}

/// Checks that the groups of each level are contiguous, not empty, and cover the level below.
fn partition(levels: &[Vec<u32>], rows: usize) -> bool {
    let mut below = rows;
    levels.iter().all(|starts| {
        let whole = starts[0] == 0 && *starts.last().unwrap() as usize == below;
        below = starts.len() - 1;
        whole && starts.is_sorted_by(|a, b| a < b)
    })
}

proptest! {
    #[test]
    fn a_list_is_a_permutation_if_it_contains_every_row_once(
        order in (0u32..20).prop_flat_map(|n| Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
        spoilt in any::<prop::sample::Index>(),
        with in 0u32..21,
    ) {
        let permutation = Permutation::new(order.clone()).unwrap();
        prop_assert_eq!(permutation.apply(permutation.new_of_old()),
                        (0..order.len() as u32).collect::<Vec<_>>());
        let mut list = order.clone();
        if !list.is_empty() {
            *spoilt.get_mut(&mut list) = with;
            prop_assert_eq!(Permutation::new(list.clone()).is_some(), list == order);
        }
    }

    #[test]
    fn a_permuted_matrix_multiplies_permuted_vectors(csr in square()) {
        let x: Vec<f64> = (0..csr.rows).map(|k| (k as f64 * 0.7).sin()).collect();
        let y = Reference::new(&csr, 1.0, &x, 0.0, &[]);
        for order in [Order::Rcm, Order::BandK, Order::Band3, Order::BandVolta] {
            let permutation = order.compute(&csr).unwrap().permutation;
            let permuted = csr.permuted(&permutation);
            prop_assert!(permuted.is_valid());
            let x = permutation.apply(&x);
            let product: Vec<f64> = (0..csr.rows).map(|row| {
                permuted.row(row).map(|k| {
                    permuted.values[k] * x[permuted.column_indices[k] as usize]
                }).sum()
            }).collect();
            prop_assert!(y.permuted(&permutation).judge(&product).passes());
        }
    }

    #[test]
    fn rcm_of_a_pattern_and_of_its_transpose_are_the_same(csr in square()) {
        let [plain, transposed] = [&csr, &csr.transposed()].map(|csr| Order::Rcm.compute(csr).unwrap());
        prop_assert_eq!(plain.permutation, transposed.permutation);
    }

    #[test]
    fn groups_partition_the_rows(csr in square(), sizes in prop::collection::vec(size(), 1..4)) {
        prop_assert!(partition(&grouped(csr.row_lengths(), &sizes), csr.rows));
        for coarsening in COARSENINGS {
            let BandK { permutation, levels } = band_k(&csr, coarsening, &sizes);
            prop_assert_eq!(permutation.len(), csr.rows);
            prop_assert_eq!(levels.len(), sizes.len());
            prop_assert!(partition(&levels, csr.rows));
        }
    }
}

#[test]
fn permuted_rows_are_moved_across_tasks() {
    let csr = generated("grid2d,n=70,points=5");
    let there = shuffled(&csr);
    assert!(there.is_valid() && there != csr);
    let order: Vec<u32> = (0..csr.rows as u32).rev().collect();
    let back = Permutation::from(order);
    assert_eq!(there.permuted(&back).permuted(&back), there);
}

#[test]
fn rcm_finds_the_band_of_a_shuffled_matrix() {
    for (spec, natural, bound) in
        [("grid2d,n=40,points=5", 40, 41), ("grid3d,n=12,points=7", 144, 160), ("wheel,spokes=50", 50, 50)]
    {
        let csr = generated(spec);
        assert_eq!(bandwidth(&csr), natural, "{spec}");
        let found = bandwidth(&reordered(Order::Rcm, &shuffled(&csr)));
        assert!(found <= bound, "{spec}: {found}");
    }
    let band =
        (0..500).flat_map(|row: usize| (row.saturating_sub(2)..(row + 3).min(500)).map(move |col| (row, col, 1.0)));
    let band = shuffled(&Csr::from_triplets(500, 500, &band.collect::<Vec<_>>()));
    assert!(bandwidth(&band) > 300);
    assert_eq!(bandwidth(&reordered(Order::Rcm, &band)), 2);
    // An entry without its mirror image counts as an edge: here a path with entries above the diagonal only.
    let path: Vec<_> = (0..99).map(|row| (row, row + 1, 1.0)).collect();
    let path = shuffled(&Csr::from_triplets(100, 100, &path));
    assert_eq!(bandwidth(&reordered(Order::Rcm, &path)), 1);
}

/// Returns a symmetric matrix with these entries and their mirror images; a pair (i, i) is a diagonal entry.
fn symmetric(n: usize, pairs: &[(usize, usize)]) -> Csr<f64> {
    let both = pairs.iter().flat_map(|&(a, b)| [(a, b, 1.0), (b, a, 1.0)]);
    Csr::from_triplets(n, n, &both.collect::<Vec<_>>())
}

#[test]
fn rcm_orders_components_one_after_another_and_the_lowest_degree_first() {
    for (pairs, expected) in [
        // The search starts at vertex 0, the end of the path. Of the neighbours of 1, the leaf 3 precedes 2.
        (&[(0, 1), (1, 2), (1, 3), (2, 4), (2, 5)][..], [5, 4, 2, 3, 1, 0]),
        // A path of 3 around an empty row, then two isolated rows.
        (&[(0, 2), (2, 3)], [3, 2, 0, 1, 4, 5]),
    ] {
        let ordered = Order::Rcm.compute(&symmetric(6, pairs)).unwrap();
        assert_eq!(ordered.permutation.old(), expected);
    }
}

/// The levels of the search allow several orders; the edge weights must select one of them.
#[test]
fn the_heaviest_edge_comes_first() {
    let pairs = [(0, 1), (0, 2), (0, 3), (2, 4), (2, 5), (4, 1), (5, 3), (4, 5)];
    let csr = symmetric(6, &pairs);
    let groups = graph::Groups { of: vec![0, 1, 2, 2, 3, 3], count: 4 };
    let coarse = Graph::of(&csr).collapsed(&groups);
    let edges = [[(1, 1), (2, 2)], [(0, 1), (3, 1)], [(0, 2), (3, 3)], [(1, 1), (2, 3)]];
    for (vertex, expected) in (0..).zip(edges) {
        let mut found: Vec<_> = coarse.edges(vertex).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{vertex}");
    }
    assert_eq!(coarse.vertex_weights, [4, 3, 4 + 3, 4 + 4]);
    // The search of this ring of four starts at 0; of its neighbours, 2 precedes 1. The result is reversed.
    assert_eq!(rcm::reverse_cuthill_mckee(&coarse), [3, 1, 2, 0]);
}

#[test]
fn band_k_is_nearly_as_narrow_as_rcm() {
    let grid = generated("grid2d,n=60,points=5");
    let banded = |csr: &Csr<f64>, coarsening| bandwidth(&csr.permuted(&band_k(csr, coarsening, &[20]).permutation));
    assert!(banded(&grid, Coarsening::Hand) < 4 * 60, "{}", banded(&grid, Coarsening::Hand));
    let shuffled = shuffled(&grid);
    for (coarsening, most) in [(Coarsening::Hand, 4 * 60), (Coarsening::HeavyEdge, 8 * 60)] {
        let narrow = banded(&shuffled, coarsening);
        assert!(narrow < most, "{narrow} of {}", bandwidth(&shuffled));
    }
}

/// Rows of equal length give groups of exactly the requested size; the sizes of the levels multiply.
#[test]
fn groups_have_the_requested_size() {
    let diagonal: Vec<_> = (0..100).map(|k| (k, k, 1.0)).collect();
    let diagonal = Csr::<f64>::from_triplets(100, 100, &diagonal);
    let levels = grouped(diagonal.row_lengths(), &[8, 3]);
    assert_eq!(levels[0], (0..13).map(|k| k * 8).chain([100]).collect::<Vec<_>>());
    assert_eq!(levels[1], [0, 3, 6, 9, 12, 13]);
    assert_eq!(band_k(&diagonal, Coarsening::Hand, &[8]).levels[0], levels[0]);
    // A long row can fill a group by itself, and empty rows count too.
    let long: Vec<_> = (0..50).map(|col| (50, col, 1.0)).collect();
    let long = Csr::<f64>::from_triplets(100, 100, &long);
    let groups = &grouped(long.row_lengths(), &[10])[0];
    assert_eq!(groups, &[0, 15, 30, 45, 51, 66, 81, 96, 100]);
    assert_eq!(grouped([].into_iter(), &[10, 2]), [[0], [0]]);
}

/// Matching follows the heaviest edges and ends when only a hub could still be matched.
#[test]
fn heavy_edges_are_collapsed_first() {
    let grid = generated("grid2d,n=16,points=5");
    let sizes = band_k(&grid, Coarsening::HeavyEdge, &[8]).levels.remove(0);
    assert!((16..=32).contains(&(sizes.len() - 1)), "{} groups of 256 rows", sizes.len() - 1);
    let star = band_k(&generated("wheel,spokes=1000"), Coarsening::HeavyEdge, &[1000]);
    assert!(star.levels[0].len() > 1);
    let spokes: Vec<_> = (1..1000).map(|leaf| (0, leaf, 1.0)).collect();
    let star = Csr::<f64>::from_triplets(1000, 1000, &spokes);
    assert_eq!(band_k(&star, Coarsening::HeavyEdge, &[100]).levels[0].len(), 1001);
}

/// Returns the sorted rows of each group of the coarsest level.
fn coarsest(BandK { permutation, levels }: &BandK) -> Vec<Vec<u32>> {
    let mut starts = levels.last().unwrap().clone();
    for finer in levels.iter().rev().skip(1) {
        starts.iter_mut().for_each(|start| *start = finer[*start as usize]);
    }
    let group = |bounds: &[u32]| {
        let mut rows = permutation.old()[bounds[0] as usize..bounds[1] as usize].to_vec();
        rows.sort_unstable();
        rows
    };
    let mut groups: Vec<_> = starts.windows(2).map(group).collect();
    groups.sort();
    groups
}

/// First 0-1, 2-3 and 4-5 are matched. Then 0-1 is matched with 4-5 (two edges), not with 2-3 (one edge).
#[test]
fn matching_follows_the_weights_of_collapsed_edges() {
    let csr = symmetric(6, &[(0, 1), (2, 3), (4, 5), (0, 2), (0, 4), (1, 5)]);
    let groups = coarsest(&band_k(&csr, Coarsening::HeavyEdge, &[4]));
    assert_eq!(groups, [vec![0, 1, 4, 5], vec![2, 3]]);
}

/// The super-rows 0, 2, 1, 3 of two rows each form a path, and the super-super-rows follow this path.
#[test]
fn super_rows_are_swept_in_the_order_of_their_graph() {
    let within = [(0, 1), (2, 3), (4, 5), (6, 7), (1, 1), (7, 7)];
    let csr = symmetric(8, &[&within[..], &[(0, 4), (5, 2), (3, 6)]].concat());
    let groups = coarsest(&band_k(&csr, Coarsening::Hand, &[2, 2]));
    assert_eq!(groups, [[0, 1, 4, 5], [2, 3, 6, 7]]);
}

#[test]
fn bandwidth_and_profile_are_those_of_the_entries() {
    let csr = Csr::<f64>::from_triplets(4, 4, &[(0, 3, 1.0), (1, 0, 1.0), (1, 1, 1.0), (3, 1, 1.0)]);
    assert_eq!((bandwidth(&csr), profile(&csr)), (3, 1 + 2));
}

#[test]
fn an_order_of_another_program_is_a_file_or_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in [("a.perm", "2 3 1"), ("a.iperm", "2 3 1")] {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    let shown = folder.path().display();
    let of = |form: &str, matrix| Order::named(&format!("{form}{shown}")).unwrap().read(matrix, 3);
    let old = |form| of(form, "a").unwrap().unwrap().old().to_vec();
    assert_eq!([old("file:"), old("inverse-file:")], [[1, 2, 0], [2, 0, 1]]);
    assert!(of("file:", "b").unwrap_err().contains("/b.perm: No such file"));
    let device = Order::named("file:/dev/zero").unwrap();
    assert_eq!(device.read("a", 3).unwrap_err(), "/dev/zero: it is not a regular file");
    assert_eq!(Order::Rcm.read("a", 3), Ok(None));
    for order in Order::OWN.into_iter().chain([device]) {
        let json = serde_json::to_string(&order).unwrap();
        assert_eq!(serde_json::from_str::<Order>(&json).unwrap(), order);
    }
    assert!(["file:", "inverse-file:", "amd", ""].iter().all(|name| Order::named(name).is_none()));
}
