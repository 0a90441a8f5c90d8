use std::hash::Hasher;

use xxhash_rust::xxh3::Xxh3;

use super::spec::form_note;
use super::*;

fn generate(spec: &str) -> Csr<f64> {
    let csr = Generator::parse(spec).unwrap().generate().unwrap();
    assert!(csr.is_valid(), "{spec}");
    csr
}

fn row(csr: &Csr<f64>, row: usize) -> &[u32] {
    &csr.column_indices[csr.row(row)]
}

/// Specifications with rows, columns and entries of their matrices, and the columns of some rows.
type Case = (&'static str, [usize; 3], &'static [(usize, &'static [u32])]);

const CASES: &[Case] = &[
    // The sizes of apache1, atmosmodl, chem_master1 and fv2 of the collection.
    ("grid3d,nx=8,ny=100,nz=101,points=7", [80_800, 80_800, 542_184], &[]),
    ("grid3d,n=198,nx=38,points=7", [1_489_752, 1_489_752, 10_319_760], &[]),
    ("grid2d,nx=201,ny=201,points=5", [40_401, 40_401, 201_201], &[]),
    ("grid2d,n=99,points=9", [9_801, 9_801, 87_025], &[]),
    // The sizes of AG-Monien/debr, which has identical entries, JGD_BIBD/bibd_17_8 and JGD_Homology/ch7-8-b3.
    ("de-bruijn,bits=20", [1 << 20, 1 << 20, 4_194_298], &[]),
    ("bibd,n=17,k=8", [136, 24_310, 680_680], &[]),
    ("chessboard,m=7,n=8,rooks=4", [58_800, 11_760, 235_200], &[]),
    // Words are joined to their shifts by one bit.
    ("de-bruijn,bits=3", [8, 8, 26], &[(0, &[1, 4]), (2, &[1, 4, 5]), (5, &[2, 3, 6])]),
    // The blocks of 3 of 4 points are 012, 013, 023, 123 in this order; the pairs are 01, 02, 03, 12, 13, 23.
    (
        "bibd,n=4,k=3",
        [6, 4, 12],
        &[(0, &[0, 1]), (1, &[0, 2]), (2, &[1, 2]), (3, &[0, 3]), (4, &[1, 3]), (5, &[2, 3])],
    ),
    // Two rooks on 2 x 2 squares occupy one of the two diagonals. Single rooks are numbered like the squares.
    ("chessboard,m=2,n=2,rooks=2", [2, 4, 4], &[(0, &[0, 3]), (1, &[1, 2])]),
    ("mycielski,n=2", [2, 2, 2], &[(0, &[1])]),
    ("dense,cols=3,rows=2", [2, 3, 6], &[(1, &[0, 1, 2])]),
    ("dense,cols=4096", [4096, 4096, 1 << 24], &[]),
    ("dense,cols=64,nnz=6400", [100, 64, 6400], &[]),
    ("wheel,spokes=3", [4, 4, 6], &[(0, &[1, 2, 3]), (1, &[2]), (3, &[1])]),
    ("wheel,spokes=1", [2, 2, 2], &[(1, &[1])]),
    (
        "diagonals,rows=4,cols=5,offsets=2:-1:0:2",
        [4, 5, 10],
        &[(0, &[0, 2]), (1, &[0, 1, 3]), (2, &[1, 2, 4]), (3, &[2, 3])],
    ),
    ("diagonals,rows=4,offsets=-1", [4, 4, 3], &[]),
    ("hubs,n=10,hubs=0", [10, 10, 10], &[]),
    ("hubs,n=10,hubs=1", [10, 10, 19], &[]),
    ("hubs,n=1000", [1000, 1000, 3997], &[(0, &[0])]),
    (
        "hubs,n=1000,hubs=2,length=300,others=5",
        [1000, 1000, 2 * 300 + 998 * 5],
        &[(500, &[498, 499, 500, 501, 502])],
    ),
];

#[test]
fn matrices_have_their_sizes_and_rows() {
    for &(spec, sizes, rows) in CASES {
        let matrix = generate(spec);
        assert_eq!([matrix.rows, matrix.cols, matrix.nnz()], sizes, "{spec}");
        for &(at, columns) in rows {
            assert_eq!(row(&matrix, at), columns, "{spec}: {at}");
        }
    }
}

#[test]
fn grids_join_the_points_within_some_steps() {
    for (spec, sides, steps) in [
        ("grid2d,nx=4,ny=3", [4, 3, 1], 1..=1),
        ("grid2d,nx=4,ny=3,points=5", [4, 3, 1], 0..=1),
        ("grid2d,n=4,points=9", [4, 4, 1], 0..=2),
        ("grid3d,n=3", [3, 3, 3], 1..=1),
        ("grid3d,nx=4,ny=3,nz=5,points=7", [4, 3, 5], 0..=1),
        ("grid3d,nx=4,ny=3,nz=5,points=18", [4, 3, 5], 1..=2),
        ("grid3d,n=3,nx=4,points=27", [4, 3, 3], 0..=3),
    ] {
        let grid = generate(spec);
        let [nx, ny, _] = sides;
        let place = |point: usize| [point % nx, point / nx % ny, point / (nx * ny)];
        assert_eq!(grid.rows, sides.iter().product::<usize>(), "{spec}");
        for at in 0..grid.rows {
            let is_joined = |other: &usize| {
                let apart = [0, 1, 2].map(|k| place(at)[k].abs_diff(place(*other)[k]));
                apart.iter().all(|&side| side <= 1) && steps.contains(&apart.iter().sum::<usize>())
            };
            let joined = (0..grid.rows).filter(is_joined).map(|point| point as u32);
            assert_eq!(row(&grid, at), joined.collect::<Vec<_>>(), "{spec}: {at}");
        }
    }
}

#[test]
fn mycielski_graphs_are_symmetric_without_triangles() {
    let cycle = generate("mycielski,n=3");
    assert!((0..5).all(|point| row(&cycle, point).len() == 2));
    for (n, points, edges) in [(3, 5, 5), (4, 11, 20), (5, 23, 71)] {
        let graph = generate(&format!("mycielski,n={n}"));
        assert_eq!(graph.rows, points);
        assert_eq!(graph, graph.transposed());
        assert_eq!(graph.nnz(), 2 * edges);
        let joined = |a: usize, b: u32| row(&graph, a).contains(&b);
        for point in 0..points {
            for &next in row(&graph, point) {
                assert!(row(&graph, next as usize).iter().all(|&third| !joined(point, third)));
            }
        }
    }
}

#[test]
fn a_design_has_each_pair_in_the_blocks_that_contain_it() {
    let design = generate("bibd,n=9,k=4");
    let blocks = design.transposed();
    assert_eq!((design.rows, design.cols, design.nnz()), (36, 126, 126 * 6));
    assert!((0..36).all(|pair| row(&design, pair).len() == 21 && row(&design, pair).is_sorted()));
    assert!((0..126).all(|block| row(&blocks, block).len() == 6));
}

#[test]
fn removing_a_rook_leaves_a_placement() {
    // Removing two rooks one after the other reaches each placement in two ways or not at all.
    for (m, n, rooks) in [(3, 4, 3), (5, 3, 3), (4, 4, 4)] {
        let board = |rooks| generate(&format!("chessboard,m={m},n={n},rooks={rooks}"));
        let (upper, lower) = (board(rooks), board(rooks - 1));
        assert_eq!(upper.cols, lower.rows);
        for placement in 0..upper.rows {
            let others = row(&upper, placement);
            assert!(others.len() == rooks && others.is_sorted_by(|a, b| a < b));
            let mut reached: Vec<u32> = Vec::new();
            others.iter().for_each(|&other| reached.extend(row(&lower, other as usize)));
            reached.sort_unstable();
            let in_two_ways = reached.chunks(2).all(|pair| pair.len() == 2 && pair[0] == pair[1]);
            assert!(in_two_ways, "{m} x {n}, {rooks} rooks: {reached:?}");
        }
        let mut rows: Vec<_> = (0..upper.rows).map(|placement| row(&upper, placement)).collect();
        rows.sort_unstable();
        assert!(rows.is_sorted_by(|a, b| a < b), "all placements are different");
    }
}

#[test]
fn different_seeds_give_different_matrices() {
    for spec in [
        "rmat,scale=6",
        "uniform,rows=50,nnz=200",
        "banded-normal,n=50,nnz=200,variance=9",
        "power-law,rows=50,nnz=200,longest=30",
        "sloped,rows=50,nnz=200,longest=30",
        "hubs,n=50,length=9",
        "empty-rows,rows=50,nnz=200,empty=0.5",
        "block,n=50,r=2,c=2,nnz=200",
    ] {
        let of = |seed| generate(&format!("{spec},seed={seed}"));
        assert_eq!((of(1) == generate(spec), of(1) == of(2)), (true, false), "{spec}");
    }
}

/// The hashes must not change: a specification must always denote the same matrix.
#[test]
fn a_specification_gives_the_same_matrix_everywhere() {
    let specs = [
        "rmat,scale=8,edges=3000,random=5",
        "uniform,rows=300,cols=200,nnz=2000,band=50",
        "banded-normal,n=300,nnz=3000,variance=90",
        "power-law,rows=900,nnz=5000,longest=100,exponent=0.7,heavy=30,run=3",
        "sloped,rows=900,cols=800,nnz=5000,longest=100,band=300",
        "hubs,n=100",
        "hubs,n=100,length=9,random=1",
        "hubs,n=100,hubs=20,length=9,others=2,band=40,random=2",
        "empty-rows,rows=200,nnz=500,empty=0.25",
        "empty-rows,rows=200,nnz=500,empty=0.7,clusters=4",
        "block,n=120,r=2,c=3,nnz=1200",
        "block,n=120,r=2,c=3,nnz=1200,band=20",
    ];
    let sums: Vec<String> = specs
        .iter()
        .map(|spec| {
            let csr = generate(spec);
            let mut hash = Xxh3::new();
            csr.row_offsets.iter().for_each(|offset| hash.write_u32(*offset));
            csr.column_indices.iter().for_each(|column| hash.write_u32(*column));
            csr.values.iter().for_each(|value| hash.write_u64(value.to_bits()));
            format!("{spec}: {:016x}", hash.finish())
        })
        .collect();
    expect_test::expect![[r#"
        rmat,scale=8,edges=3000,random=5: 239b8750a41f3a72
        uniform,rows=300,cols=200,nnz=2000,band=50: 742b2734bd69c84d
        banded-normal,n=300,nnz=3000,variance=90: 390cd67831144b9c
        power-law,rows=900,nnz=5000,longest=100,exponent=0.7,heavy=30,run=3: f5c2482182a83e71
        sloped,rows=900,cols=800,nnz=5000,longest=100,band=300: 1eea188cdf044a1a
        hubs,n=100: 602ac3bd886b1c7c
        hubs,n=100,length=9,random=1: 362098fc755cc479
        hubs,n=100,hubs=20,length=9,others=2,band=40,random=2: 24b94e27d7c707aa
        empty-rows,rows=200,nnz=500,empty=0.25: 2998d8803a51904b
        empty-rows,rows=200,nnz=500,empty=0.7,clusters=4: d4e709787570c245
        block,n=120,r=2,c=3,nnz=1200: 7dd18091127111fe
        block,n=120,r=2,c=3,nnz=1200,band=20: 120662ccce4e5fcd
    "#]]
    .assert_eq(&(sums.join("\n") + "\n"));
}

#[test]
fn the_number_of_threads_does_not_change_the_matrix() {
    let spec = "power-law,rows=300000,nnz=3000000,longest=900,random=2";
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| generate(spec))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn the_written_file_contains_the_generated_matrix() {
    for spec in [
        "grid2d,n=30",
        "rmat,scale=9,random=4",
        "uniform,rows=200000,nnz=1500000",
        "power-law,rows=10,longest=4,exponent=1",
    ] {
        let generator = Generator::parse(spec).unwrap();
        let mut file = tempfile::Builder::new().suffix(".mtx").tempfile().unwrap();
        let (rows, cols, nnz) = generator.write("a kind", || Ok(&mut file)).unwrap();
        let read = crate::reader::read(file.path(), &Default::default()).unwrap();
        assert_eq!((read.csr.rows, read.csr.cols, read.csr.nnz()), (rows, cols, nnz));
        assert_eq!(read.csr, generate(spec), "{spec}");
        assert_eq!((read.kind.as_deref(), read.duplicates), (Some("a kind"), 0));
    }
}

/// Keys and values are checked against the forms first, so that messages of the deserializer never appear.
#[test]
fn every_form_lists_the_keys_of_its_pattern() {
    for form in FORMS {
        let form = form["gen:".len()..].replace(['[', ']'], "");
        let mut words = form.split(',').map(|word| word.split('=').next().unwrap());
        let mut spec = words.next().unwrap().to_owned();
        for key in words {
            spec += &format!(",{key}={}", if key == "points" { 9 } else { 4 });
        }
        let refused = Generator::parse(&spec).err().map_or(String::new(), |e| e.to_string());
        assert!(!refused.contains("field") && !refused.contains("expected"), "{refused}");
    }
}

#[test]
fn errors_name_the_invalid_part() {
    for case in [
        "ring => there is no generator 'ring'; `spmv-bench generate --help` lists the generators",
        "unifrom,rows=9 => \
         there is no generator 'unifrom'; did you mean uniform? `spmv-bench generate --help` lists the generators",
        "grid2d => nx= is missing; n= sets all sides",
        "uniform,rows=9 => nnz= is missing",
        "grid2d,n=0 => 0 rows and 0 columns; a matrix needs at least one of each",
        "grid2d,n=x => n=x: the value must be a whole number",
        "grid2d,n=-1 => n=-1: the value must be a whole number",
        "grid2d,n => 'n' is not KEY=VALUE",
        "grid2d,n=2,points=8 => points=8: it must be 4, 5 or 9",
        "grid3d,n=2,points=8 => points=8: it must be 6, 7, 18 or 27",
        "wheel,spokes=2,n=3 => wheel has no parameter 'n'",
        "uniform,rwos=2,nnz=3 => uniform has no parameter 'rwos' (did you mean rows?)",
        "wheel,spokes=2,spokes=3 => 'spokes' is given twice",
        "wheel,spokes=2,random=x => random=x: the value must be a whole number",
        "banded-normal,n=9,nnz=9,variance=inf => variance=inf: the value must be a number",
        "block,n=9,r=2,c=3,nnz=6 => n=9 must be a multiple of r=2 and of c=3",
        "block,n=6,r=2,c=3,nnz=7 => nnz=7 must be a multiple of r x c, which is 6",
        "uniform,rows=2,nnz=2,run=0 => run=0: it must be at least 1",
        "diagonals,rows=2,offsets=1:x => offsets: 'x' must be a whole number",
        "grid2d,n=50000 => \
         2500000000 rows and 2500000000 columns; a matrix can have at most 2147483647 of each",
        "bibd,n=8,k=9 => k=9: it must be from 2 to n=8",
        "chessboard,m=3,n=9,rooks=4 => rooks=4: it must be from 2 to 3 on this board",
        "de-bruijn,bits=1 => bits=1: it must be at least 2",
        "mycielski,n=1 => n=1: it must be at least 2, or the graph has no edges",
        "rmat,scale=5000000000 => \
         more than 10^19 rows and more than 10^19 columns; a matrix can have at most 2147483647 of each",
    ] {
        let (spec, problem) = case.split_once(" => ").unwrap();
        let message = Generator::parse(spec).unwrap_err().to_string();
        assert_eq!(message, format!("gen:{spec}: {problem}{}", form_note(spec)));
    }
    let endless = format!("wheel,{}", "n".repeat(10_000));
    assert!(Generator::parse(&endless).unwrap_err().to_string().len() < 1000);
    assert_eq!(form_note("wheel,n=2"), "; the form is gen:wheel,spokes=S[,random=SEED]");
    assert_eq!(form_note("ring"), "");
    for spec in ["grid3d,n=18446744073709551615", "bibd,n=99,k=40", "de-bruijn,bits=99"] {
        let refused = Generator::parse(spec).unwrap_err().to_string();
        assert!(refused.contains("a matrix can have at most"), "{refused}");
    }
}

/// Too many entries are refused before any entry is generated.
#[test]
fn impossible_matrices_are_refused() {
    for (spec, problem) in [
        ("grid3d,n=1000", "6000000000 nonzeros; a matrix can have at most 2147483647"),
        (
            "power-law,rows=50000,longest=50000,shortest=49999,exponent=1",
            "2499950001 nonzeros; a matrix can have at most 2147483647",
        ),
        ("uniform,rows=2,nnz=9", "a row of 5 entries does not fit into 2 columns"),
    ] {
        let refused = Generator::parse(spec).unwrap().generate().unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
}
