//! Decides which scenarios the suite of sub-agent sessions has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{SubagentHarness, SubagentNeed, scenarios};

/// Makes one test for each scenario of the suite of `SubagentSession`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! subagent_conformance {
    ($harness:expr) => {
        $crate::__subagent_scenarios! { __scenario_tests { subagents, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __subagent_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        an_answer_comes_back [] "the child's answer comes back, without white space at its ends"
        a_prompt_is_told_as_it_is [] "the child is told the prompt as it is: long, of several lines, letters of several bytes"
        a_child_takes_its_turns [] "a child may take as many model turns as the limit says, also the largest"
        the_limit_of_turns_is_kept [] "a child without an answer after its last turn takes no other, and fails as Forbidden, committed"
        no_turns_are_invalid [] "a limit of no turns is Invalid, not committed, and nothing runs"
        a_blank_prompt_is_invalid [] "a prompt without a letter is Invalid, not committed, and nothing runs"

        the_same_request_runs_once [] "the same request again gives the same answer, under any operation of its execution, and runs nothing"
        the_same_request_at_once_runs_once [] "the same request at once gives everybody the answer of one child"
        another_request_is_conflict [] "another prompt or limit under one id is Conflict, not committed, and changes nothing"
        another_request_meanwhile_is_conflict [] "another request under the id of a child at work is Conflict at once, and the child goes on"
        equal_prompts_of_two_requests_both_run [] "two requests may say the same, and each has its own child"
        executions_do_not_mix [] "an id names another task in another execution"
        ids_are_told_apart_by_their_bytes [] "ids of any text name tasks of their own: empty, odd, long, and alike but for case or form"
        many_tasks_are_remembered [] "the first of a thousand tasks is still remembered"

        a_failure_arrives_as_it_was [] "the failure of a child's model arrives with its kind, its code and its disposition"
        a_failure_without_effect_leaves_the_id_free [] "after a failure that says not committed, the same request runs a child"
        a_failure_with_effect_is_the_outcome [] "a failure that does not say not committed is given again, and nothing runs"
        a_failure_after_a_turn_is_not_without_effect [] "a failure after an answered turn never says not committed, and is given again"
        nothing_to_say_is_a_failure [] "a child that answers nothing fails as Protocol, and does not say not committed"
        a_child_that_breaks_down_is_a_failure [] "a child that breaks down fails as Internal, does not say not committed, and others go on"
        a_question_of_a_child_is_a_failure [CanAsk] "a child that asks the user fails as Unavailable, committed, and nothing waits"

        a_cancelled_call_runs_nothing [] "a call under a cancelled operation is Canceled, not committed, runs nothing and leaves its id free"
        a_late_call_runs_nothing [] "a call after its deadline is Timeout, not committed, runs nothing and leaves its id free"
        cancelling_ends_the_child [] "a cancelled call is Canceled soon, commit unknown, and its child is at work no more"
        a_deadline_ends_the_child [] "a call past its deadline is Timeout soon, commit unknown, and its child is at work no more"
        dropping_ends_the_child [] "a child whose call was dropped is soon at work no more"
        a_child_that_ends_leaves_its_parent [] "what ends a child from within ends neither its parent's operation nor its siblings"
        a_task_that_was_ended_stays_ended [] "the request of a child that was ended gives the same failure again, and runs nothing"

        who_waits_for_a_child_may_leave [] "a second call for a child at work can be ended, soon, and the child goes on"
        who_waits_for_a_child_learns_of_its_end [] "a second call fails soon, without saying not committed, when the child's own call is cancelled or dropped"
        many_children_at_once_get_their_own_answers [] "many children at once work side by side, and each call gets the answer of its own"
    } };
}

crate::__subagent_scenarios! { __scenario_table { dyn SubagentHarness, SubagentNeed, scenarios } }
