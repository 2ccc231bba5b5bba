//! Decides which scenarios the suite of session factories has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{DelegationHarness, DelegationNeed, scenarios};

/// Makes one test for each scenario of the suite of `ExecutionSessionFactory`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! delegation_conformance {
    ($harness:expr) => {
        $crate::__delegation_scenarios! { __scenario_tests { delegation, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __delegation_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        a_lease_begins_with_its_first_revision [] "a lease that was established is of revision 1, and makes ports"
        each_lease_is_one_of_its_own [] "leases of one caller and one execution have references of their own, and end one by one"
        a_renewal_is_the_next_revision [] "a renewal gives the same lease with the next revision, which does not expire earlier"
        an_older_revision_is_conflict [] "an older revision neither renews nor makes ports: Conflict, not committed, and the newest is as it was"
        ports_are_made_any_number_of_times [] "the newest revision makes ports as often as it is asked to, and they see the same questions"
        a_revoked_lease_is_forbidden [] "a revoked lease neither renews nor makes ports: Forbidden, not committed"
        revoking_is_idempotent [] "revoking again is Ok, also with an older revision"
        an_expired_lease_is_forbidden [CanExpire] "an expired lease neither renews nor makes ports: Forbidden, not committed; revoking it is Ok"
        a_renewed_lease_lives_on [CanExpire] "a lease that is renewed in time outlives its first term"
        a_lease_is_its_callers_alone [] "another subject, tenant or project can use no lease: Forbidden, not committed, and the lease lives on"
        capabilities_do_not_make_a_caller [] "a caller whose capabilities changed is the same caller"
        a_lease_is_for_its_execution_alone [] "a lease makes no ports for another execution: Forbidden, not committed"
        an_unknown_lease_is_forbidden [] "a reference that nobody issued is Forbidden, not committed, and is not repeated"

        an_input_answers_a_question [] "an input reaches the question that waits, with its text and its decision"
        the_same_input_again_is_delivered_once [] "the same input of one operation again is Ok, and the answer is as it was"
        another_input_of_an_operation_is_conflict [] "another answer, question or execution under one operation is Conflict, not committed"
        an_answered_question_takes_no_input [] "an input of another operation for an answered question is Conflict, not committed, and the first answer counts"
        an_input_without_a_question_is_conflict [] "an input that nothing waits for is Conflict, not committed, and leaves its operation free"
        an_approval_wants_a_decision [] "an approval that is answered without a decision is Invalid, not committed, and waits on"
        another_callers_execution_is_not_found [] "an input for an execution that is unknown or another caller's is NotFound, not committed"
        executions_have_questions_of_their_own [] "an input reaches the question of its execution, also where another one has a question of the same id"
        the_same_input_at_once_is_delivered_once [] "the same input at once is Ok for everybody"
        inputs_at_once_have_one_winner [] "of inputs of several operations at once, one is Ok and the others are Conflict"

        a_cancelled_call_changes_nothing [] "every call under a cancelled operation is Canceled, not committed, and changes nothing"
        a_late_call_changes_nothing [] "every call after its deadline is Timeout, not committed, and changes nothing"
    } };
}

crate::__delegation_scenarios! { __scenario_table { dyn DelegationHarness, DelegationNeed, scenarios } }
