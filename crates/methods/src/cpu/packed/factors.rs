//! The values of a window, in the smallest form from which each can be restored in every bit.

use std::collections::HashMap;

use num_traits::AsPrimitive;

use crate::simd::Aligned;
use spmv_matrix::scalar::Scalar;

pub enum Factors<T> {
    /// One value, to which all are equal.
    Same(T),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    /// Values of binary64 that binary32 represents exactly.
    Single(Vec<f32>),
    /// At most 256 distinct values: each once, and for each factor its index in this table.
    Coded8(Vec<T>, Vec<u8>),
    /// At most 65,536 distinct values, as above.
    Coded16(Vec<T>, Vec<u16>),
    Full(Aligned<T>),
}

impl<T: Default> Default for Factors<T> {
    fn default() -> Self {
        Self::Same(T::default())
    }
}

/// The form of the values of a window, chosen before they are written.
#[derive(Default)]
pub enum Form<T> {
    Same(T),
    Int8,
    Int16,
    Single,
    /// A table of at most 65,536 values, and the index of each in it by its bits.
    Coded(Vec<T>, HashMap<u64, u16>),
    #[default]
    Full,
}

impl<T: Scalar> Form<T> {
    /// Returns the form with the fewest bytes, with a table of at most `most` values.
    pub fn of(values: &[T], most: usize) -> Self {
        let first = values.first().copied().unwrap_or_default();
        if values.iter().all(|&value| bits(value) == bits(first)) {
            return Self::Same(first);
        }
        if all_are::<T, i8>(values) {
            return Self::Int8;
        }
        let (bytes, form) = if all_are::<T, i16>(values) {
            (size_of::<i16>(), Self::Int16)
        } else if size_of::<T>() > size_of::<f32>() && all_are::<T, f32>(values) {
            (size_of::<f32>(), Self::Single)
        } else {
            (size_of::<T>(), Self::Full)
        };
        // Tables of at most this size have fewer bytes together with their codes of one or two bytes.
        let pays = |code: usize| (bytes - code) * values.len() / size_of::<T>();
        let pays = pays(1).min(1 << 8).max(pays(2).min(1 << 16));
        table(values, pays.min(most)).unwrap_or(form)
    }

    /// Returns the value that empty slots contain: zero, or the value of some nonzero if zero might not have this form.
    pub fn filler(&self) -> T {
        match self {
            Self::Same(value) => *value,
            Self::Coded(table, _) => table[0],
            _ => T::zero(),
        }
    }

    /// Stores values of this form.
    pub fn store(&self, values: Aligned<T>) -> Factors<T> {
        match self {
            Self::Same(value) => Factors::Same(*value),
            Self::Int8 => Factors::Int8(converted(&values)),
            Self::Int16 => Factors::Int16(converted(&values)),
            Self::Single => Factors::Single(converted(&values)),
            Self::Coded(table, codes) if table.len() <= 1 << 8 => {
                let codes = values.iter().map(|value| codes[&bits(*value)] as u8).collect();
                Factors::Coded8(table.clone(), codes)
            }
            Self::Coded(table, codes) => {
                let codes = values.iter().map(|value| codes[&bits(*value)]).collect();
                Factors::Coded16(table.clone(), codes)
            }
            Self::Full => Factors::Full(values),
        }
    }
}

fn table<T: Scalar>(values: &[T], most: usize) -> Option<Form<T>> {
    let (mut table, mut codes) = (Vec::new(), HashMap::new());
    for &value in values {
        codes.entry(bits(value)).or_insert_with(|| {
            table.push(value);
            (table.len() - 1) as u16
        });
        if table.len() > most {
            return None;
        }
    }
    Some(Form::Coded(table, codes))
}

/// Returns the bits of a value, which differ for zeros of different signs.
fn bits<T: Scalar>(value: T) -> u64 {
    value.widen().to_bits()
}

/// Returns whether every value is the same in every bit after a conversion to `S` and back.
fn all_are<T: Scalar, S: AsPrimitive<f64>>(values: &[T]) -> bool
where
    f64: AsPrimitive<S>,
{
    values.iter().all(|&value| {
        let stored: S = value.widen().as_();
        bits(value) == bits(T::narrow(stored.as_()))
    })
}

fn converted<T: Scalar, S: AsPrimitive<f64>>(values: &[T]) -> Vec<S>
where
    f64: AsPrimitive<S>,
{
    values.iter().map(|value| value.widen().as_()).collect()
}

impl<T> Factors<T> {
    pub fn bytes(&self) -> usize {
        match self {
            Self::Same(_) => size_of::<T>(),
            Self::Int8(values) => size_of_val(&values[..]),
            Self::Int16(values) => size_of_val(&values[..]),
            Self::Single(values) => size_of_val(&values[..]),
            Self::Coded8(table, codes) => size_of_val(&table[..]) + size_of_val(&codes[..]),
            Self::Coded16(table, codes) => size_of_val(&table[..]) + size_of_val(&codes[..]),
            Self::Full(values) => size_of_val(&values[..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stored<T: Scalar>(values: &[T], most: usize) -> Factors<T> {
        let form = Form::of(values, most);
        let mut aligned = Aligned::of(form.filler(), values.len() + 1);
        aligned[..values.len()].copy_from_slice(values);
        form.store(aligned)
    }

    /// Returns the name of the form and the factor at an index.
    fn factor<T: Scalar>(factors: &Factors<T>, at: usize) -> (&'static str, T) {
        match factors {
            Factors::Same(value) => ("same", *value),
            Factors::Int8(values) => ("int8", T::narrow(values[at].into())),
            Factors::Int16(values) => ("int16", T::narrow(values[at].into())),
            Factors::Single(values) => ("single", T::narrow(values[at].into())),
            Factors::Coded8(table, codes) => ("coded8", table[usize::from(codes[at])]),
            Factors::Coded16(table, codes) => ("coded16", table[usize::from(codes[at])]),
            Factors::Full(values) => ("full", values[at]),
        }
    }

    fn is_restored<T: Scalar>(values: &[T], most: usize) -> bool {
        let factors = stored(values, most);
        let filler = Form::of(values, most).filler();
        let with_filler = values.iter().copied().chain([filler]);
        with_filler.enumerate().all(|(at, value)| bits(factor(&factors, at).1) == bits(value))
    }

    #[test]
    fn the_smallest_form_is_chosen() {
        let form = |value: fn(usize) -> f64, most| {
            let values: Vec<f64> = (0..4000).map(value).collect();
            let single: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            (factor(&stored(&values, most), 0).0, factor(&stored(&single, most), 0).0)
        };
        assert_eq!(form(|_| 0.1, 0), ("same", "same"));
        assert_eq!(form(|k| (k % 256) as f64 - 128.0, 256), ("int8", "int8"));
        assert_eq!(form(|k| (k % 257) as f64 - 128.0, 0), ("int16", "int16"));
        assert_eq!(form(|k| (k * 9) as f64 - 32768.0, 1 << 16), ("int16", "int16"));
        assert_eq!(form(|k| (k * 9) as f64, 0), ("single", "full"));
        assert_eq!(form(|k| if k == 7 { -0.0 } else { k as f64 }, 0), ("single", "full"));
        assert_eq!(form(|k| (k % 256) as f64 / 3.0, 256), ("coded8", "coded8"));
        assert_eq!(form(|k| (k % 257) as f64 / 3.0, 256), ("full", "full"));
        assert_eq!(form(|k| (k % 1000) as f64 / 3.0, 1 << 16), ("coded16", "coded16"));
        assert_eq!(form(|k| (k % 3100) as f64 / 3.0, 1 << 16), ("full", "full"));
    }

    /// Distinct values of one form and, in about half of the cases, one at the edges of the forms.
    fn values() -> impl Strategy<Value = Vec<f64>> {
        let of = |value: BoxedStrategy<f64>| prop::collection::vec(value, 1..300);
        let class = prop_oneof![
            of((-128i32..128).prop_map(f64::from).boxed()),
            of((-32_768i32..32_768).prop_map(f64::from).boxed()),
            of(any::<f32>().prop_map(f64::from).boxed()),
            of(any::<f64>().boxed()),
        ];
        let edges = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE, 128.0, 32_768.0, 0.1];
        let edge = prop_oneof![prop::sample::select(edges.to_vec()), any::<u64>().prop_map(f64::from_bits),];
        let all = (class, prop::collection::vec(edge, 0..2));
        all.prop_map(|(class, edges)| [class, edges].concat())
    }

    proptest! {
        #[test]
        #[cfg_attr(miri, ignore = "takes minutes in Miri")]
        fn every_bit_is_restored(
            distinct in values(),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..1500),
            most in prop::sample::select(vec![0, 256, 1 << 16]),
        ) {
            let values: Vec<f64> = order.iter().map(|index| *index.get(&distinct)).collect();
            let single: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            prop_assert!(is_restored(&values, most) && is_restored(&single, most));
        }
    }
}
