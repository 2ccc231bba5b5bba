//! Decides which scenarios the suite of interaction has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{InteractionHarness, InteractionNeed, scenarios};

/// Makes one test for each scenario of the suite of `InteractionSession`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! interaction_conformance {
    ($harness:expr) => {
        $crate::__interaction_scenarios! { __scenario_tests { interaction, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __interaction_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        a_prepared_question_is_seen_whole [] "a prepared question is visible, with everything that it says"
        preparing_again_changes_nothing [] "preparing the same question again is Ok, and it is asked once"
        preparing_otherwise_is_conflict [] "another question under the same id is Conflict, and the first one stands"
        a_cancelled_question_is_not_seen [] "a question under a cancelled operation is Canceled, and nobody sees it"
        a_prepared_question_outlives_its_process [OutlivesItsProcess] "a question is durable when prepare returns: the next process can wait for its answer"

        an_answer_ends_the_wait [] "an answer reaches who waits for it"
        an_early_answer_is_kept [] "an answer that came before the wait is given to it"
        every_wait_gets_the_same_answer [] "every later wait gets the same answer"
        waits_at_once_all_get_the_answer [] "all who wait at once get the answer"
        the_first_answer_counts [] "a second answer changes nothing"
        a_decision_arrives_as_it_was_made [] "the decision on an approval arrives as it was made, reason included"
        asking_is_preparing_and_waiting [] "request prepares the question and gives its answer"
        answers_go_to_their_questions [] "questions that are open at once get each its own answer"
        executions_do_not_mix [Executions] "the same id in another execution is another question"
        an_unprepared_wait_is_not_found [] "a wait for what was not prepared is NotFound"

        nobody_to_ask_is_unavailable [CanBeAlone] "before nobody, prepare or wait is Unavailable, at once"
        a_deadline_ends_the_wait [] "a wait ends at its deadline with Timeout, and the question stays"
        cancelling_ends_the_wait [] "a cancelled wait ends soon with Canceled, and the question stays"
        a_dropped_wait_leaves_the_question [] "a dropped wait leaves the question, which can be waited for again"
    } };
}

crate::__interaction_scenarios! {
    __scenario_table { dyn InteractionHarness, InteractionNeed, scenarios }
}
