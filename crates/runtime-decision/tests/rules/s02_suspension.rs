//! Decides whether a run that was suspended, or lost its process, goes on where it was (section 2).
//!
//! Length: scripts with all that came of them, one test for each way to stop and to go on.

use crate::notation::check;

#[test]
fn s02_a_suspension_lets_what_is_in_flight_settle_and_asks_for_nothing_more() {
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        suspend
        1 "one"
        store
        resume
        2 "two"
        suspend
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > -x 5 settle
        > tool_result a(1) "one" | run_suspended
        > run_resumed | tool_call_planned a(2) | tool_call_started a(2) | -> a(2)
        > tool_result a(2) "two" | cycle_started after 4 messages | -> model 4 messages
        > -x 9 settle
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one" | tool result(2) "two"
        | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_run_is_suspended_before_its_first_cycle() {
    check(
        r#"
        start alone
        suspend
        profile
        store
        resume
        model "done"
        "#,
        r#"
        > run_started | -> profile
        > -x 1 settle
        > run_suspended
        > run_resumed | cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_profile_that_a_suspension_stopped_is_asked_for_again() {
    check(
        r#"
        start alone
        suspend
        profile halted
        resume
        profile
        model "done"
        "#,
        r#"
        > run_started | -> profile
        > -x 1 settle
        > run_suspended
        > run_resumed | -> profile
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_model_call_that_a_suspension_stopped_is_sent_again_under_another_name() {
    check(
        r#"
        start
        suspend
        model halted
        store
        resume
        model "done"
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 settle
        > run_suspended
        > run_resumed | -> model 1 messages
        > cycle_llm_response "done" | run_completed "done"
        # 2 attempts, input None (0, false)
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s02_hooks_and_providers_that_a_suspension_stopped() {
    check(
        r#"
        with before_cycle
        hook h before_llm repeatable
        start
        suspend
        inputs halted
        resume
        inputs none
        suspend
        hook h halted
        resume
        hook h nothing
        model "done"
        "#,
        r#"
        > -> inputs
        > -x 2 settle
        > run_suspended
        > run_resumed | -> inputs
        > cycle_started after 1 messages | -> hook h before 1 messages and 0 tools
        > -x 4 settle
        > run_suspended
        > run_resumed | -> hook h before 1 messages and 0 tools
        > -> model 1 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
    check(
        r#"
        hook h before_llm
        start
        suspend
        hook h halted
        "#,
        r#"
        > cycle_started after 1 messages | -> hook h before 1 messages and 0 tools
        > -x 2 settle
        > run_failed hook_outcome_unknown
        = failed hook_outcome_unknown
        = user "go"
        "#,
    );
}

#[test]
fn s02_a_tool_that_a_suspension_stopped_runs_again_if_it_may() {
    check(
        r#"
        tool a read
        start
        model a(1)
        suspend
        1 halted
        store
        resume
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -x 5 settle
        > run_suspended
        > run_resumed | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_tool_that_a_suspension_stopped_does_not_run_again_if_it_may_not() {
    check(
        r#"
        tool a
        start
        model a(1)
        suspend
        1 halted
        resume
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -x 5 settle
        > tool_result a(1) !tool_cancelled | run_suspended
        > run_resumed | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) !tool_cancelled | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_tool_that_waits_to_run_again_is_given_up_when_the_run_is_cancelled() {
    check(
        r#"
        tool a read
        start
        model a(1)
        suspend
        1 halted
        cancel
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -x 5 settle
        > run_suspended
        > run_resumed | tool_result a(1) !tool_cancelled | run_cancelled
        = cancelled
        = user "go" | assistant a(1) | tool result(1) !tool_cancelled
        "#,
    );
}

#[test]
fn s02_a_suspended_run_can_be_cancelled_and_does_not_run_out_of_time() {
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        suspend
        1 "one"
        time
        cancel
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > -x 5 settle
        > tool_result a(1) "one" | run_suspended
        > !! wall_time_elapsed cannot come while the run is suspended
        > run_resumed | tool_result a(2) !skipped_due_to_cancel | run_cancelled
        = cancelled
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_cancel
        "#,
    );
    check(
        r#"
        hook h after_llm
        start
        suspend
        model "hello"
        cancel
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 settle
        > run_suspended
        > run_resumed | cycle_llm_response "hello" | run_cancelled
        = cancelled
        = user "go" | assistant "hello"
        "#,
    );
}

#[test]
fn s02_a_suspension_asked_for_twice_is_one() {
    check(
        r#"
        start
        suspend
        suspend
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 settle
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
    check(
        r#"
        tool a
        policy ask a
        start
        model a(1)
        suspend
        suspend
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 600000 ms
        > -x 5 withdraw | run_suspended r-4
        = suspended
        "#,
    );
}

#[test]
fn s02_a_run_at_its_last_cycle_ends_and_is_not_suspended() {
    check(
        r#"
        cycles 1
        tool a
        start
        model a(1)
        suspend
        1 "one"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -x 5 settle
        > tool_result a(1) "one" | run_max_cycles ""
        = max_cycles ""
        = user "go" | assistant a(1) | tool result(1) "one"
        "#,
    );
}

#[test]
fn s02_after_a_crash_a_tool_runs_again_only_if_it_may() {
    check(
        r#"
        tool a read
        tool b idempotent
        tool c
        start
        model a(1)
        crash
        resume
        1 "one"
        model b(2)
        crash
        resume
        2 "two"
        model c(3)
        crash
        resume
        show results
        model "done" usage 3 4
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > run_resumed | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" b(2) | tool_call_planned b(2) | tool_call_started b(2) | -> b(2)
        > run_resumed | -> b(2)
        > tool_result b(2) "two" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" c(3) | tool_call_planned c(3) | tool_call_started c(3) | -> c(3)
        > run_resumed | tool_result c(3) !tool_outcome_unknown | cycle_started after 7 messages
        | -> model 7 messages
        # tool result(1) "one" | tool result(2) "two"
        | tool result(3) "{\"ok\":false,\"error\":\"the run was interrupted while the tool was at work; it may have taken effect, verify before you repeat it\",\"error_code\":\"tool_outcome_unknown\",\"tool_name\":\"c\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant b(2)
        | tool result(2) "two" | assistant c(3) | tool result(3) !tool_outcome_unknown
        | assistant "done"
        "#,
    );
}

#[test]
fn s02_after_a_crash_the_model_is_asked_again_and_the_lost_attempt_is_counted() {
    check(
        r#"
        start
        crash
        resume
        model "done" usage 3 4
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > run_resumed | -> model 1 messages
        > cycle_llm_response "done" | run_completed "done"
        # 2 attempts, input None (3, false)
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s02_after_a_crash_a_hook_that_may_not_run_twice_fails_the_run() {
    check(
        r#"
        hook h before_llm
        start
        crash
        resume
        "#,
        r#"
        > cycle_started after 1 messages | -> hook h before 1 messages and 0 tools
        > run_resumed | run_failed hook_outcome_unknown
        = failed hook_outcome_unknown
        = user "go"
        "#,
    );
}

#[test]
fn s02_after_a_crash_a_hook_that_may_run_twice_does() {
    check(
        r#"
        hook h before_llm repeatable
        start
        crash
        resume
        hook h nothing
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> hook h before 1 messages and 0 tools
        > run_resumed | -> hook h before 1 messages and 0 tools
        > -> model 1 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_crash_amid_a_group_keeps_results_and_questions() {
    check(
        r#"
        tool a parallel
        tool b parallel
        policy ask b
        start
        model a(1) b(2) a(3)
        1 "one"
        crash
        steer "stop that"
        resume
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) b(2) a(3) | tool_call_planned a(1) | tool_call_planned b(2)
        | tool_call_planned a(3) | tool_call_started a(1) | -> a(1) | approval_requested r-8 b {}
        | -> human b {} within 600000 ms | tool_call_started a(3) | -> a(3)
        > tool_result a(1) "one"
        > run_resumed | tool_result a(3) !tool_outcome_unknown
        | session_steer_interrupt after 3 "stop that"
        | approval_resolved r-8 skipped_due_to_steering
        | tool_result b(2) !skipped_due_to_steering | run_steered after 3 prompts 1 steering 1
        | cycle_started after 6 messages | -> model 6 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) b(2) a(3) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | tool result(3) !tool_outcome_unknown
        | user "stop that" | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_crash_while_the_run_was_stopping() {
    check(
        r#"
        tool a read
        start
        model a(1)
        cancel
        crash
        resume
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -x 5 interrupt
        > run_resumed | tool_result a(1) !tool_outcome_unknown | run_cancelled
        = cancelled
        = user "go" | assistant a(1) | tool result(1) !tool_outcome_unknown
        "#,
    );
    check(
        r#"
        tool a
        start
        model a(1)
        suspend
        crash
        resume
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -x 5 settle
        > run_resumed | tool_result a(1) !tool_outcome_unknown | cycle_started after 3 messages
        | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) !tool_outcome_unknown | assistant "done"
        "#,
    );
}
