//! The keys that all kinds of views have.

use crate::report::select::{Conditions, Select};

/// The keys that all kinds of views have.
pub(super) trait Keys {
    /// Returns the title of the view.
    fn title(&self) -> &str;
    /// Returns the conditions that a row must meet to be included.
    fn conditions(&self) -> &Conditions;
    /// Returns the selections of the methods that are shown, none if all are.
    fn of(&self) -> &[Select];
}

/// Defines the struct of a kind of view: the keys that all kinds have, followed by its own.
macro_rules! keys {
    ($(#[$doc:meta])* $kind:ident { $($own:tt)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $kind {
            /// The title of the view.
            pub title: String,
            /// The conditions that a row must meet to be included.
            #[serde(rename = "where", default)]
            pub conditions: $crate::report::select::Conditions,
            /// The methods to show, in this order; all methods if empty.
            #[serde(default)]
            pub of: Vec<$crate::report::select::Select>,
            $($own)*
        }

        keys!($kind, |kind| &kind.of);
    };
    ($kind:ident, |$own:ident| $of:expr) => {
        impl $crate::report::views::keys::Keys for $kind {
            fn title(&self) -> &str {
                &self.title
            }

            fn conditions(&self) -> &$crate::report::select::Conditions {
                &self.conditions
            }

            fn of(&self) -> &[$crate::report::select::Select] {
                let $own = self;
                $of
            }
        }
    };
}
