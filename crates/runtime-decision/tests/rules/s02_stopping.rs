//! Decides whether a run that stops does so on one path, with its whole history (section 2).

use crate::notation::check;

#[test]
fn s02_a_cancellation_interrupts_whatever_the_run_is_at() {
    check(
        r#"
        start alone
        cancel
        "#,
        r#"
        > run_started | -> profile
        > -x 1 withdraw | run_cancelled
        = cancelled
        = user "go"
        "#,
    );
    check(
        r#"
        with before_cycle
        start
        cancel
        "#,
        r#"
        > -> inputs
        > -x 2 withdraw | run_cancelled
        = cancelled
        = user "go"
        "#,
    );
    check(
        r#"
        hook h before_llm
        start
        cancel
        "#,
        r#"
        > cycle_started after 1 messages | -> hook h before 1 messages and 0 tools
        > -x 2 withdraw | run_cancelled
        = cancelled
        = user "go"
        "#,
    );
    check(
        r#"
        hook h after_llm
        start
        model "unseen"
        cancel
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -> hook h after "unseen"
        > -x 3 withdraw | cycle_llm_response "unseen" | run_cancelled
        = cancelled
        = user "go" | assistant "unseen"
        "#,
    );
}

#[test]
fn s02_a_cancelled_model_call_is_told_to_stop_and_its_answer_is_kept_if_it_comes() {
    check(
        r#"
        start
        cancel
        model halted
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 interrupt
        > run_cancelled
        = cancelled
        = user "go"
        "#,
    );
    check(
        r#"
        tool a
        start
        cancel
        model "late" a(1)
        show results
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 interrupt
        > cycle_llm_response "late" a(1) | tool_result a(1) !skipped_due_to_cancel | run_cancelled
        # tool result(1) "{\"ok\":false,\"error\":\"not run: the run was cancelled\",\"error_code\":\"skipped_due_to_cancel\",\"tool_name\":\"a\"}"
        = cancelled
        = user "go" | assistant "late" a(1) | tool result(1) !skipped_due_to_cancel
        "#,
    );
    check(
        r#"
        tool a
        start
        cancel
        model cut "la"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 interrupt
        > cycle_llm_response "la" | run_cancelled
        = cancelled
        = user "go" | assistant "la"
        "#,
    );
}

#[test]
fn s02_a_cancelled_tool_is_told_to_stop_and_the_rest_is_skipped() {
    check(
        r#"
        tool a parallel
        tool b
        start
        model a(1) a(2) b(3)
        1 "one"
        cancel
        2 halted
        show results
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) b(3) | tool_call_planned a(1) | tool_call_planned a(2)
        | tool_call_started a(1) | -> a(1) | tool_call_started a(2) | -> a(2)
        > tool_result a(1) "one"
        > -x 8 interrupt
        > tool_result a(2) !tool_cancelled | tool_result b(3) !skipped_due_to_cancel
        | run_cancelled
        # tool result(1) "one"
        | tool result(2) "{\"ok\":false,\"error\":\"the tool was cancelled at work; it may have taken effect, verify before you repeat it\",\"error_code\":\"tool_cancelled\",\"tool_name\":\"a\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"not run: the run was cancelled\",\"error_code\":\"skipped_due_to_cancel\",\"tool_name\":\"b\"}"
        = cancelled
        = user "go" | assistant a(1) a(2) b(3) | tool result(1) "one"
        | tool result(2) !tool_cancelled | tool result(3) !skipped_due_to_cancel
        "#,
    );
    check(
        r#"
        tool a
        start
        model a(1)
        cancel
        1 "it was done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -x 5 interrupt
        > tool_result a(1) "it was done" | run_cancelled
        = cancelled
        = user "go" | assistant a(1) | tool result(1) "it was done"
        "#,
    );
}

#[test]
fn s02_a_cancelled_wait_for_an_approval_resolves_it() {
    check(
        r#"
        tool a
        policy ask a
        start
        model a(1)
        cancel
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 600000 ms
        > -x 5 withdraw | approval_resolved r-4 skipped_due_to_cancel
        | tool_result a(1) !skipped_due_to_cancel | run_cancelled
        = cancelled
        = user "go" | assistant a(1) | tool result(1) !skipped_due_to_cancel
        "#,
    );
}

#[test]
fn s02_time_that_is_up_ends_a_run_like_a_cancellation_under_its_own_name() {
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        time
        1 "one" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > -x 5 interrupt
        > tool_result a(1) "one" finish | tool_result a(2) !skipped_due_to_budget
        | budget_exhausted wall_time
        = budget_exhausted wall_time
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_budget
        "#,
    );
    check(
        r#"
        start
        time
        cancel
        model halted
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 interrupt
        > run_cancelled
        = cancelled
        = user "go"
        "#,
    );
    check(
        r#"
        start
        cancel
        time
        model halted
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 interrupt
        > run_cancelled
        = cancelled
        = user "go"
        "#,
    );
}

#[test]
fn s02_failures_of_the_model_end_the_run_with_its_history() {
    check(
        r#"
        tool a
        start
        model a(1)
        1 "one"
        model fails
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > run_failed model_failed
        # 2 attempts, input None (0, false)
        = failed model_failed
        = user "go" | assistant a(1) | tool result(1) "one"
        "#,
    );
    check(
        r#"
        start
        model unsent
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > run_failed model_failed
        # 0 attempts, input Some(0) (0, true)
        = failed model_failed
        = user "go"
        "#,
    );
    check(
        r#"
        start alone
        profile fails
        "#,
        r#"
        > run_started | -> profile
        > run_failed model_profile_failed
        = failed model_profile_failed
        = user "go"
        "#,
    );
}

#[test]
fn s02_nothing_runs_from_an_answer_that_is_not_complete() {
    check(
        r#"
        start
        model cut "so f"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "so f" | run_failed model_output_limit
        = failed model_output_limit
        = user "go" | assistant "so f"
        "#,
    );
    check(
        r#"
        tool a
        start
        model filtered "no" a(1)
        show results
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "no" a(1) | tool_result a(1) !skipped_due_to_incomplete_answer
        | run_failed content_filtered
        # tool result(1) "{\"ok\":false,\"error\":\"not run: the answer that held the call was cut\",\"error_code\":\"skipped_due_to_incomplete_answer\",\"tool_name\":\"a\"}"
        = failed content_filtered
        = user "go" | assistant "no" a(1) | tool result(1) !skipped_due_to_incomplete_answer
        "#,
    );
    check(
        r#"
        start
        model odd "eh"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "eh" | run_failed model_incomplete
        = failed model_incomplete
        = user "go" | assistant "eh"
        "#,
    );
}
