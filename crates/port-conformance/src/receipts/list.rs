//! Decides which scenarios the suite of receipt stores has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{ReceiptHarness, ReceiptNeed, scenarios};

/// Makes one test for each scenario of the suite of `ReceiptStore`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! receipt_conformance {
    ($harness:expr) => {
        $crate::__receipt_scenarios! { __scenario_tests { receipts, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __receipt_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        a_settled_receipt_is_listed_whole [] "a settled receipt is listed with every field as it was written"
        an_open_turn_is_not_listed [] "an open turn is neither listed nor summed"
        opening_again_changes_nothing [] "opening a turn again with the same value is Ok, also after it was settled"
        opening_otherwise_is_conflict [] "opening a turn with another value is Conflict and changes nothing"
        opening_a_settled_turn_otherwise_is_conflict [] "opening a settled turn with another value is Conflict and changes nothing"
        noting_again_is_ok [] "noting a request again with the same value is Ok"
        noting_again_changes_nothing [OutlivesItsProcess] "a request that was noted again with the same value counts once"
        noting_otherwise_is_conflict [] "noting another value for a request is Conflict, each time, and the first value stays the known one"
        a_refused_note_changes_nothing [OutlivesItsProcess] "what was noted first is what is kept when another value was refused"
        noting_after_settling_is_conflict [] "noting a new request of a settled turn is Conflict and changes nothing"
        noting_an_unknown_turn_is_not_found [] "noting a request of a turn that was not opened is NotFound"
        settling_again_changes_nothing [] "settling again with the same value is Ok and counts once"
        settling_otherwise_is_conflict [] "settling with another value is Conflict and changes nothing"
        settling_an_unknown_turn_is_not_found [] "settling a turn that was not opened is NotFound, and lists nothing"

        a_living_owners_turn_is_not_unsettled [] "the open turns of this process are never given as unsettled"
        another_living_owners_turn_is_not_unsettled [Shared] "the open turns of another living process are never given as unsettled"
        a_dead_owners_turns_are_unsettled [OutlivesItsProcess] "the open turns of a dead process are given, oldest first, with the requests that were noted, in order"
        a_settled_turn_of_the_dead_stays_settled [OutlivesItsProcess] "what a dead process settled stays settled and listed"
        the_next_process_settles_the_dead [OutlivesItsProcess] "the next process settles a dead one's turn once, and it is unsettled no more"
        writes_outlive_their_process [OutlivesItsProcess] "opening, noting and settling are durable when they return"
        two_processes_see_one_ledger [Shared] "what one process settles the other lists"

        the_list_is_in_order_of_settling [] "receipts are listed in the order of settling, not of opening"
        a_page_begins_after_its_cursor [] "a page begins after the given receipt, and has at most the given number"
        an_unknown_cursor_is_not_found [] "a page after a turn that was not settled is NotFound"
        totals_are_by_user_provider_and_model [] "totals are summed by user, provider and model, in this order"
        totals_are_of_the_day_of_the_start [] "a turn counts on the UTC day of its start, to the millisecond"
        totals_say_when_they_are_lower_bounds [] "a count that a receipt does not know makes the sum a lower bound, and is never zero"

        a_cancelled_write_writes_nothing [] "a write under a cancelled operation is Canceled, not committed, and leaves nothing"
        a_late_write_writes_nothing [] "a write after its deadline is Timeout, not committed, and leaves nothing"
        an_interrupted_write_can_be_repeated [] "a write that was dropped is whole or absent, and writing the same value again is safe"
        writes_at_once_are_all_kept [] "turns that are written at once are all kept, once"
    } };
}

crate::__receipt_scenarios! { __scenario_table { dyn ReceiptHarness, ReceiptNeed, scenarios } }
