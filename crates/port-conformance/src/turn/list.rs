//! Decides which scenarios the suite of intelligence and turn has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{TurnHarness, TurnNeed, scenarios};

/// Makes one test for each scenario of the suite of `Intelligence` and `AgentTurn`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! turn_conformance {
    ($harness:expr) => {
        $crate::__turn_scenarios! { __scenario_tests { turn, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __turn_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        an_exact_identifier_is_resolved [] "an exact identifier resolves to a model with windows that fit each other"
        an_alias_is_resolved [Aliases] "an alias resolves to the model that it stands for"
        an_unknown_model_is_never_guessed [] "a name that is nearly a model's is NotFound"

        an_unknown_model_starts_nothing [] "a start with an unknown model is NotFound: nothing sent, no receipt"
        a_dropped_start_leaves_nothing_running [] "a start that is dropped leaves no running turn, and at most one receipt, of an interrupted turn"
        a_running_id_starts_nothing [] "a start under an id that is running is Conflict, without a receipt, and harms no one"
        a_foreign_providers_thread_starts_nothing [] "a thread of another provider is Invalid: nothing sent, no receipt"
        a_foreign_models_thread_starts_nothing [] "a thread of another model is Invalid: nothing sent, no receipt"
        an_unknown_thread_starts_nothing [Threads] "an unknown thread is NotFound: nothing sent, no receipt"

        the_context_comes_first_and_once [] "the exact caller-controlled input is given first, once a turn"
        an_answer_completes_the_turn [] "an answer without calls is Completed, once, and then there is nothing"
        deltas_add_up_to_the_answer [Deltas] "the text deltas, in order, are the answer"
        calls_come_one_by_one [] "calls come in the model's order, each after the answer to the one before"
        arguments_arrive_as_written [] "arguments that are no JSON arrive as their raw text"
        answers_reach_the_provider [] "the input and the answer to every call reach the provider"
        an_open_call_blocks_the_next_event [] "the next event before the answer is Conflict and changes nothing"
        a_second_answer_is_refused [] "a second answer to a call is Conflict and changes nothing"
        an_unknown_call_is_refused [] "an answer to a call that does not exist is Conflict and changes nothing"
        a_dropped_wait_loses_no_event [] "waits for events that are dropped lose none"
        usage_is_cumulative [] "reports of usage grow over the turn and end in that of the completion"
        a_cut_answer_fails_the_turn [] "an answer cut at a limit fails the turn, surfaces no call, and is receipted"
        a_filtered_answer_fails_the_turn [] "an answer cut by a filter fails the turn and is receipted"

        the_receipt_says_who_and_what [] "the receipt names user, operation, parent, models, thread and times"
        an_open_turn_has_no_receipt [] "receipt and continuation are there when the turn is over, not before"
        finishing_settles_once [] "finish_unavailable settles an open turn as interrupted, and gives the same receipt again"
        finishing_a_completed_turn_changes_nothing [] "finish_unavailable after completion gives the receipt of the completion"
        an_unread_turn_that_is_dropped_is_settled [] "a turn that is dropped before its first event leaves one receipt"
        a_waiting_turn_that_is_dropped_is_settled [] "a turn that is dropped while the provider is silent leaves one interrupted receipt"
        an_answering_turn_that_is_dropped_is_settled [] "a turn that is dropped with an open call leaves one interrupted receipt"
        a_providers_failure_is_receipted [] "a refusal by the provider fails the turn with its receipt, and then there is nothing"
        a_cut_request_is_receipted_as_unknown [] "a request that was cut is unknown, and its receipt reports no count as zero"
        withheld_usage_is_unavailable [] "a turn whose provider reports nothing is Unavailable, never zero"
        turns_at_once_do_not_mix [] "turns that run at once have each their own receipt"

        a_timeout_ends_the_turn [] "the turn's timeout ends the wait for the provider: Timeout, receipted as timed out"
        the_timeout_spares_the_host [] "the host's work between call and answer does not count against the timeout"
        cancelling_ends_the_turn [] "cancel says true, ends the turn soon, and is receipted as cancelled"
        cancelling_an_answering_turn_ends_it [] "a turn that is cancelled with an open call takes no answer and is receipted as cancelled"
        cancelling_twice_is_harmless [] "cancel says false when nothing is running any more"
        cancelling_is_sticky [] "a start under a cancelled id is Canceled: nothing sent, no receipt"
        a_cancelled_parent_starts_nothing [] "a start under a cancelled parent is Canceled: nothing sent, no receipt"
        cancelling_a_parent_ends_its_descendants [] "cancelling an operation ends all turns below it, and no other"
        cancelling_a_child_spares_its_parent [] "cancelling a turn leaves the one that caused it alone"

        a_thread_goes_on [Threads] "a completed turn can be continued in its thread"
        every_request_is_listed [Requests] "the receipt lists each request with its name, metering and end, and their sum"
        an_unreported_request_makes_a_lower_bound [Requests] "when one request reports nothing the sum is of the others, and a lower bound"
        an_interrupted_turn_keeps_its_reports [Requests] "an interrupted turn keeps what its ended requests reported"
        a_turn_makes_at_most_its_requests [Requests] "a turn that would need one request too many fails, receipted, without sending it"
        costs_add_up [Requests Costs] "the cost of a turn is the sum over its requests"
        an_unknown_cost_makes_the_sum_unknown [Requests Costs] "when the cost of one request is unknown so is that of the turn"
    } };
}

crate::__turn_scenarios! { __scenario_table { dyn TurnHarness, TurnNeed, scenarios } }
