//! Builder methods for types of options.

/// Makes a builder method for each of these fields of a type of options, so that options are
/// written as `Options::default().strict(true)` also where the type is `#[non_exhaustive]`.
///
/// ```
/// #[derive(Default)]
/// #[non_exhaustive]
/// pub struct Options {
///     /// Whether damage is an error.
///     pub strict: bool,
/// }
///
/// tabia_io::setters!(Options { strict: bool });
///
/// assert!(Options::default().strict(true).strict);
/// ```
#[macro_export]
macro_rules! setters {
    ($type:ident $(<$life:lifetime>)? { $($field:ident: $value:ty),* $(,)? }) => {
        impl $(<$life>)? $type $(<$life>)? {
            $(
                #[doc = concat!("Returns the options with another [`", stringify!($field), "`](field@", stringify!($type), "::", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $value) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}

/// Defines a type of options with the usual value of each field, and [`setters!`] for them.
/// Fields without one come first, before a semicolon, and are the parameters of `new`; where
/// all have one, the type has `Default` instead.
///
/// ```
/// tabia_io::options! {
///     /// What is copied.
///     pub struct CopyJob {
///         /// The book.
///         source: &'static str,
///         ;
///         /// Whether damage is an error.
///         strict: bool = false,
///     }
/// }
///
/// assert!(CopyJob::new("a.ctg").strict(true).strict);
/// ```
#[macro_export]
macro_rules! options {
    ($(#[$about:meta])* pub struct $type:ident {
        $($(#[$what:meta])* $given:ident: $of:ty,)* ;
        $($(#[$meaning:meta])* $field:ident: $value:ty = $usual:expr,)*
    }) => {
        $(#[$about])*
        #[non_exhaustive]
        pub struct $type {
            $($(#[$what])* pub $given: $of,)*
            $($(#[$meaning])* pub $field: $value,)*
        }

        $crate::setters!($type { $($field: $value),* });

        impl $type {
            /// With the usual value of everything else.
            #[must_use]
            pub fn new($($given: $of),*) -> $type {
                $type { $($given,)* $($field: $usual,)* }
            }
        }
    };
    ($(#[$about:meta])* pub struct $type:ident {
        $($(#[$meaning:meta])* $field:ident: $value:ty = $usual:expr,)*
    }) => {
        $(#[$about])*
        #[non_exhaustive]
        pub struct $type {
            $($(#[$meaning])* pub $field: $value,)*
        }

        $crate::setters!($type { $($field: $value),* });

        impl Default for $type {
            fn default() -> $type {
                $type { $($field: $usual,)* }
            }
        }
    };
}
