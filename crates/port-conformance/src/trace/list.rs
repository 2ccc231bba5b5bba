//! Decides which scenarios the suite of traces has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{TraceHarness, TraceNeed, scenarios};

/// Makes one test for each scenario of the suite of `TraceSession` and `TraceReader`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! trace_conformance {
    ($harness:expr) => {
        $crate::__trace_scenarios! { __scenario_tests { trace, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __trace_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        a_run_without_events_gives_none [] "a run without events gives none, and is no failure"
        events_are_numbered_from_one [] "the events of a run come in the order of the calls, numbered from 1 without gaps"
        types_come_back_as_they_were [] "the type of an event comes back as it was, empty and odd ones included"
        payloads_come_back_as_they_were [] "a payload comes back as it was: null, text, lists, and objects with any names"
        numbers_come_back_exactly [] "a number comes back exactly, the largest and the smallest included, and a fraction stays one"
        a_large_payload_comes_back_whole [] "a mebibyte of payload comes back whole"
        a_deep_payload_comes_back_whole [] "a payload of a hundred levels comes back whole"
        equal_events_are_all_kept [] "each append is an event, also of one operation and with equal content"

        runs_are_separate [] "each run has its own events and its own numbers, also where their names are alike"
        a_run_is_read_from_any_execution [] "a reader gives the run that it is asked for, whichever execution asks"
        a_page_begins_after_its_sequence [] "a page begins after the given number, also after none and after more than there are"
        a_page_has_at_most_its_limit [] "a page has at most the given number of events, also none and more than there are"
        pages_join_into_the_whole [] "pages of any size, one after the other, give every event once and in order"

        an_append_outlives_its_process [OutlivesItsProcess] "events outlive the process that appended them, and the next one goes on with the numbers"
        two_processes_see_one_trace [Shared] "what one process appends the other reads, and the numbers are of both"

        a_cancelled_append_keeps_nothing [] "an append under a cancelled operation is Canceled, not committed, and takes no number"
        a_late_append_keeps_nothing [] "an append after its deadline is Timeout, not committed, and takes no number"
        a_cancelled_read_gives_nothing [] "a read under a cancelled operation is Canceled, not committed"
        a_late_read_gives_nothing [] "a read after its deadline is Timeout, not committed"
        a_dropped_append_is_whole_or_absent [] "an append that was dropped is whole or absent, and leaves no gap"
        an_interrupted_append_tells_the_truth [] "an append that a deadline ends is whole or absent, and absent when it says not committed"
        a_dropped_read_changes_nothing [] "a read that was dropped changes nothing for the next call"

        appends_at_once_are_all_kept [] "appends at once are all kept, once, numbered without gaps, and those of one caller in its order"
        runs_at_once_do_not_mix [] "runs that are traced at once each have their own events and numbers"
        a_reader_misses_nothing [] "who reads on after the last number, during appends, gets every event once and in order"

        a_slow_append_whose_caller_leaves_is_whole_or_absent [CanBeSlow] "a slow append that is dropped at any await is whole or absent, and leaves no gap"
        a_slow_append_that_is_interrupted_tells_the_truth [CanBeSlow] "a slow append that is cancelled or late completes, or says that it is not committed or unknown"
        a_slow_append_ends_with_its_operation [CanBeSlow] "a slow append returns at its deadline, and soon after its cancellation"
        a_failing_append_tells_the_truth [CanRefuse] "an append that the store refused fails, takes no number, does not say committed, and can be repeated"
        an_append_whose_reply_is_lost_tells_the_truth [CanLoseReplies] "an append whose reply was lost is there once, and does not say not committed"
    } };
}

crate::__trace_scenarios! { __scenario_table { dyn TraceHarness, TraceNeed, scenarios } }
