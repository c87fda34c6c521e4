//! Enums whose values have names.

/// Defines an enum whose values have names.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$meaning:meta])* $value:ident = $text:literal,)*
    }) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$meaning])* $value,)*
        }

        impl $name {
            /// All values, in the order of their definition.
            pub const ALL: &[$name] = &[$($name::$value),*];

            /// The name of the value, as printed and stored.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text),*
                }
            }
        }
    };
}
