//! Decides which rules of the wire every model adapter holds, whatever API it speaks: a list that
//! no adapter can shorten.
//!
//! Knows no API: what is an adapter's own is its [`Subject`](crate::subject::Subject)'s to say.

pub mod again;
mod connections;
mod ends;
mod profiles;
mod secrets;

use std::future::Future;

pub use connections::{
    a_connection_is_used_again, an_unreachable_server_is_named_and_nothing_was_sent,
    costs_and_names_come_from_headers_too, while_connecting_nothing_is_committed,
};
pub use ends::{
    a_cancelled_and_a_late_call_end_soon, a_finished_answer_needs_no_orderly_end,
    a_slow_answer_that_goes_on_is_waited_for, a_stream_arrives_in_packets_of_any_size,
    an_error_body_that_stalls_does_not_hide_the_status, an_event_beyond_the_limit_is_refused,
    cuts_are_unknown_once_the_request_was_sent, signs_of_life_are_no_progress,
    silence_ends_the_wait_in_every_phase, usage_after_the_finish_is_waited_for,
};
pub use profiles::{profiles_are_the_configured_ones, window};
pub use secrets::{
    a_redirect_is_not_followed_and_the_key_stays_here, no_builder_and_no_session_shows_the_key,
    no_failure_shows_the_key_or_the_prompt,
};

/// Expands to one test for each rule of the wire, of the [`Subject`](crate::subject::Subject) that
/// it is given.
#[macro_export]
macro_rules! wire_rules {
    ($subject:expr) => {
        $crate::__each_wire_rule! { __wire_rule_tests $subject }
    };
}

/// The list. For the macro above, and for what tries every rule.
#[doc(hidden)]
#[macro_export]
macro_rules! __each_wire_rule {
    ($then:ident $given:expr) => {
        $crate::$then! {
            { $given }
            a_stream_arrives_in_packets_of_any_size
            silence_ends_the_wait_in_every_phase
            signs_of_life_are_no_progress
            a_slow_answer_that_goes_on_is_waited_for
            a_finished_answer_needs_no_orderly_end
            usage_after_the_finish_is_waited_for
            cuts_are_unknown_once_the_request_was_sent
            a_cancelled_and_a_late_call_end_soon
            an_event_beyond_the_limit_is_refused
            an_error_body_that_stalls_does_not_hide_the_status
            a_connection_is_used_again
            an_unreachable_server_is_named_and_nothing_was_sent
            while_connecting_nothing_is_committed
            costs_and_names_come_from_headers_too
            profiles_are_the_configured_ones
            no_failure_shows_the_key_or_the_prompt
            no_builder_and_no_session_shows_the_key
            a_redirect_is_not_followed_and_the_key_stays_here
        }
    };
}

/// For the macro above.
#[doc(hidden)]
#[macro_export]
macro_rules! __wire_rule_tests {
    ({ $subject:expr } $($rule:ident)*) => {
        $(
            #[test]
            fn $rule() {
                $crate::rules::run($crate::rules::$rule(&$subject));
            }
        )*
    };
}

/// The name and the outcome of each rule, tried in turn: whether it panicked. For the tests of this
/// crate.
#[doc(hidden)]
#[macro_export]
macro_rules! __wire_rule_outcomes {
    ({ $subject:expr } $($rule:ident)*) => {
        [$((
            stringify!($rule),
            ::std::panic::catch_unwind(|| $crate::rules::run($crate::rules::$rule(&$subject))),
        )),*]
    };
}

/// Runs a rule to its end.
///
/// # Panics
/// When the rule does.
#[doc(hidden)]
pub fn run(rule: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(rule);
}
