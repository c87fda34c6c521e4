//! Enums whose values have names.

/// Defines an enum whose values have names.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$meaning:meta])* $value:ident = $text:literal $(| $old:literal)*,)*
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
                self.names()[0]
            }

            /// The name, and after it the older names that are still read.
            #[must_use]
            pub const fn names(self) -> &'static [&'static str] {
                match self {
                    $($name::$value => &[$text $(, $old)*]),*
                }
            }

            /// The value of a name, in upper or lower case; also of an older name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<$name> {
                let is_named = |value: &&$name| {
                    value.names().iter().any(|known| known.eq_ignore_ascii_case(name))
                };
                $name::ALL.iter().find(is_named).copied()
            }
        }
    };
}
