//! Decides which scenarios the suite of context audits has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{AuditHarness, AuditNeed, scenarios};

/// Makes one test for each scenario of the suite of `ContextAuditSession`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! context_audit_conformance {
    ($harness:expr) => {
        $crate::__context_audit_scenarios! { __scenario_tests { context_audit, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __context_audit_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        nothing_is_kept_before_a_write [] "a fresh store holds nothing"
        snapshots_come_back_exactly [] "a snapshot comes back as it was: stage, numbers, tools, segments, and every kind of message"
        derivations_come_back_exactly [] "a derivation comes back as it was, the largest counts included"
        invocations_come_back_exactly [] "an invocation comes back as it was; what is unknown stays unknown and is no zero"
        an_empty_context_is_kept [] "a context without messages and tools is one like any other"
        a_large_context_comes_back_whole [] "six hundred messages and one of a quarter of a mebibyte come back whole"
        a_message_is_kept_once [] "a message that many snapshots share is stored once, also when it comes from elsewhere"
        a_message_that_is_repeated_stays_repeated [] "a message that a context has twice comes back twice, each in its place"
        contexts_that_part_do_not_mix [] "contexts that begin alike, end alike, or have the same messages in another order stay what they were"
        odd_ids_are_ids [] "any text is an id, and ids that are nearly alike are not the same"

        the_same_value_again_changes_nothing [] "the same value under the same id is Ok, whoever asks, and changes nothing"
        another_snapshot_is_a_conflict [] "a snapshot that differs in anything under a known id is Conflict, not committed, and changes nothing"
        another_derivation_is_a_conflict [] "a derivation that differs in anything under a known id is Conflict, not committed, and changes nothing"
        an_invocation_comes_to_one_end [] "an invocation goes from prepared to one end, which may be told again"
        a_second_end_is_a_conflict [] "another end, and a beginning after the end, are Conflict, not committed, and change nothing"
        an_end_of_something_else_is_a_conflict [] "an end of another model or request snapshot, and another beginning, are Conflict and change nothing"
        an_end_without_a_beginning_is_kept [] "an end that was never prepared is kept, and is an end"
        kinds_have_ids_of_their_own [] "one id may name a snapshot, a derivation and an invocation"
        names_are_not_resolved [] "a derivation or an invocation may come before the snapshots that it names, and without them"

        writes_outlive_their_process [OutlivesItsProcess] "what was kept is durable when the call returns, and known to the next process"
        two_processes_see_one_store [Shared] "what one process keeps the other knows: the same is Ok, another is Conflict, and messages are stored once"

        a_cancelled_write_keeps_nothing [] "a write under a cancelled operation is Canceled, not committed, and keeps nothing"
        a_late_write_keeps_nothing [] "a write after its deadline is Timeout, not committed, and keeps nothing"
        a_dropped_write_is_whole_or_absent [] "a write that was dropped is whole or absent, and repeating it is safe"
        an_interrupted_write_tells_the_truth [] "a write that a deadline ends is whole or absent, and absent when it says not committed"
        the_same_writes_at_once_agree [] "the same value at once is Ok for everybody"
        one_of_many_values_wins [] "of different values at once under one id one is Ok and kept, and the others are Conflict"
        writes_at_once_are_all_kept [] "contexts that grow at once are all kept, and their messages once"

        a_slow_write_whose_caller_leaves_is_whole_or_absent [CanBeSlow] "a slow write that is dropped at any await is whole or absent, and repeating it is safe"
        a_slow_write_that_is_interrupted_tells_the_truth [CanBeSlow] "a slow write that is cancelled or late completes, or says that it is not committed or unknown"
        a_slow_write_ends_with_its_operation [CanBeSlow] "a slow write returns at its deadline, and soon after its cancellation"
        a_failing_write_tells_the_truth [CanRefuse] "a write that the store refused fails, keeps nothing, does not say committed, and can be repeated"
        a_write_whose_reply_is_lost_tells_the_truth [CanLoseReplies] "a write whose reply was lost is there, does not say not committed, and can be repeated"
    } };
}

crate::__context_audit_scenarios! { __scenario_table { dyn AuditHarness, AuditNeed, scenarios } }
