//! Decides which scenarios the suite of conversations has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{ConversationHarness, ConversationNeed, scenarios};

/// Makes one test for each scenario of the suite of `ConversationSession`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! conversation_conformance {
    ($harness:expr) => {
        $crate::__conversation_scenarios! { __scenario_tests { conversation, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __conversation_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        a_new_conversation_is_empty [] "a conversation without messages gives none, and is no failure"
        messages_come_back_as_they_were [] "role and text come back as they were, empty, odd and equal ones included"
        a_long_text_comes_back_whole [] "a mebibyte of letters of several bytes comes back whole"
        a_long_append_comes_back_whole [] "a thousand messages of one append come back in their order"
        appends_follow_each_other [] "what is appended later comes later"
        the_newest_come_oldest_first [] "a load gives as many of the newest messages as it asks for, oldest first, also none and more than there are"

        an_operation_appends_once [] "the same messages again under one operation are Ok and add nothing, also after others"
        other_messages_of_an_operation_are_conflict [] "other messages under one operation are Conflict, not committed, and change nothing"
        an_operation_is_one_in_every_execution [] "an operation is the same whichever execution it belongs to"
        equal_messages_of_two_operations_are_both_kept [] "two operations may say the same, and both are kept"
        no_message_is_what_its_operation_appended [] "to append nothing is Ok, adds nothing, and is what its operation appended"

        an_append_outlives_its_process [OutlivesItsProcess] "messages, and which operation appended them, are durable when an append returns"
        two_processes_see_one_conversation [Shared] "what one process appends the other loads, and an operation appends once in both"
        conversations_are_separate [Several] "neither messages nor operations of one conversation are seen in another"

        a_cancelled_append_adds_nothing [] "an append under a cancelled operation is Canceled, not committed, adds nothing and leaves its operation free"
        a_late_append_adds_nothing [] "an append after its deadline is Timeout, not committed, adds nothing and leaves its operation free"
        a_cancelled_load_gives_nothing [] "a load under a cancelled operation is Canceled, not committed"
        a_late_load_gives_nothing [] "a load after its deadline is Timeout, not committed"
        a_dropped_append_is_whole_or_absent [] "an append that was dropped is whole or absent, and appending again under its operation leaves it once"
        an_interrupted_append_tells_the_truth [] "an append that a deadline ends is whole or absent, and absent when it says not committed"
        a_dropped_load_changes_nothing [] "a load that was dropped changes nothing for the next call"

        appends_at_once_are_all_kept [] "appends at once are all kept, once, and the messages of each stay together"
        one_operation_at_once_appends_once [] "the same messages under one operation at once are Ok for everybody, and are there once"
        a_load_sees_whole_appends [] "a load during an append sees all of it or nothing"

        a_slow_append_whose_caller_leaves_is_whole_or_absent [CanBeSlow] "a slow append that is dropped at any await is whole or absent, and appending again leaves it once"
        a_slow_append_that_is_interrupted_tells_the_truth [CanBeSlow] "a slow append that is cancelled or late completes, or says that it is not committed or unknown"
        a_slow_append_ends_with_its_operation [CanBeSlow] "a slow append returns at its deadline, and soon after its cancellation"
        a_failing_append_tells_the_truth [CanRefuse] "an append that the store refused fails, adds nothing, does not say committed, and can be repeated"
        an_append_whose_reply_is_lost_tells_the_truth [CanLoseReplies] "an append whose reply was lost is there once, does not say not committed, and can be repeated"
    } };
}

crate::__conversation_scenarios! { __scenario_table { dyn ConversationHarness, ConversationNeed, scenarios } }
