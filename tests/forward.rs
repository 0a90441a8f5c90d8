//! What drivers of tests do not replace.

/// Defines functions of a driver that are those of its field `model`: these, and some that no driver of tests replaces.
/// A text before a function is noted at each call.
macro_rules! of_the_model {
    ($($($note:literal)? fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        $crate::forward::of_the_model! {@
            fn facts() -> &Facts;
            fn activity() -> Option<Activity>;
            fn memory() -> Result<(u64, u64), Failed>;
            fn allocate(bytes: usize) -> Result<Address, Failed>;
            fn release(address: Address);
            fn persist(address: Address, bytes: usize) -> Result<u64, Failed>;
            fn release_graph(graph: GraphId);
            fn profile(start: bool) -> Result<(), Failed>;
            $($($note)? fn $name($($argument: $kind),*) $(-> $result)?;)*
        }
    };
    (@ $($($note:literal)? fn $name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {$(
        fn $name(&self, $($argument: $kind),*) $(-> $result)? {
            $(self.note($note);)?
            self.model.$name($($argument),*)
        }
    )*};
}
pub(crate) use of_the_model;
