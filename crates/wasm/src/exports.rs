// The exports of a module, included also by `crates/page`: neither package is published.

/// Exports functions of `STATE`. Natively their names, which are common, stay inside: the
/// tests call them.
macro_rules! exports {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($state:ident $(, $argument:ident: $type:ty)*) $(-> $result:ty)? $body:block
    )*) => {
        $(
            $(#[$doc])*
            #[cfg_attr(target_arch = "wasm32", allow(unsafe_code), unsafe(no_mangle))]
            pub extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                STATE.with_borrow_mut(|$state| $body)
            }
        )*
    };
}
