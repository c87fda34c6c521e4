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
