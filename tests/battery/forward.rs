//! What drivers of tests do not replace.

/// Defines functions of a driver that are those of its field `model`.
macro_rules! of_the_model {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {$(
        fn $name(&self, $($argument: $kind),*) $(-> $result)? {
            self.model.$name($($argument),*)
        }
    )*};
}
pub(crate) use of_the_model;
