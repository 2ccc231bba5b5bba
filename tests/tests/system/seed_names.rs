//! Decides whether the names that other programs build on are still there.
//!
//! Compiled, hardly run: each line names a type with all of its fields, variants or arguments, so
//! that a rename, a lost field or a new required one is an error of the compiler.
//!
//! | file | names |
//! |---|---|
//! | `ports` | values and traits of the ports |
//! | `turns` | models, turns, tools and stores of the ports |
//! | `loops` | the two host-driven loops |

mod loops;
mod ports;
mod turns;

use std::pin::Pin;

use runtime_ports::PortFailure;

/// What every asynchronous port call gives.
type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, PortFailure>> + Send + 'a>>;

/// A struct that is built by a literal of exactly these fields, each of this type.
macro_rules! fields {
    ($name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        const _: fn($name) -> $name = |whole| {
            let $name { $($field),* } = whole;
            $(let $field: $type = $field;)*
            $name { $($field),* }
        };
    };
}

/// An enum of exactly these variants, each with these fields or of this type.
macro_rules! variants {
    ($name:ident { $(
        $variant:ident $({ $($field:ident: $type:ty),* $(,)? })? $(($inner:ty))?
    ),* $(,)? }) => {
        const _: fn($name) = |whole| match whole {
            $($name::$variant $({ $($field),* })? $(($crate::seed_names::any!($inner)))? => {
                $($(let _: &$type = &$field;)*)?
                $(drop($name::$variant { $($field),* });)?
            })*
        };
        $($(const _: fn($inner) -> $name = $name::$variant;)?)*
    };
}

/// The pattern that takes whatever is there.
macro_rules! any {
    ($type:ty) => {
        _
    };
}

/// A method of a trait, called through a trait object with arguments in this order.
macro_rules! calls {
    ($port:ident.$method:ident($($argument:ident: $type:ty),* $(,)?) -> $output:ty) => {
        const _: for<'a> fn(&'a dyn $port, $($type),*) -> $crate::seed_names::Answer<'a, $output> =
            |port, $($argument),*| port.$method($($argument),*);
    };
}

use {any, calls, fields, variants};
