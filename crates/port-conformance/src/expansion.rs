//! Decides what the list of a suite turns into: the table of scenarios, or one test for each.
//!
//! Knows no scenario. Invariant: both come from the one list, so that a scenario that is added
//! reaches every implementation.

/// Expands a suite's list into its table. For the suites of this crate.
#[doc(hidden)]
#[macro_export]
macro_rules! __scenario_table {
    ({ $harness:ty, $need:ident, $scenarios:ident } $($name:ident [$($needs:ident)*] $claim:literal)*) => {
        /// Every scenario of the suite, in the order in which they are best read.
        pub const SCENARIOS: &[$crate::Scenario<$harness, $need>] = &[
            $($crate::Scenario {
                name: stringify!($name),
                claim: $claim,
                needs: &[$($need::$needs),*],
                run: |harness| Box::pin($scenarios::$name(harness)),
            }),*
        ];
    };
}

/// Expands a suite's list into tests. For the macros of this crate.
#[doc(hidden)]
#[macro_export]
macro_rules! __scenario_tests {
    ({ $suite:ident, $harness:expr } $($name:ident [$($needs:ident)*] $claim:literal)*) => {
        $(
            #[test]
            fn $name() {
                $crate::check($crate::$suite::SCENARIOS, stringify!($name), &$harness);
            }
        )*
    };
}
