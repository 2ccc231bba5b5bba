//! Decides whether the calls of an answer are paid for together, and only what started is charged
//! (section 8).

use crate::notation::check;

#[test]
fn s08_a_batch_is_admitted_whole_or_not_at_all() {
    check(
        r#"
        budget tools=2
        tool a
        start
        model a(1) a(2) a(3)
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 261 uncached 11
        | -> model 1 messages within 250
        > charged calls 1 tokens 261 uncached 11 | cycle_llm_response "" a(1) a(2) a(3)
        | -> reserve tools 3 a 3 | tool_result a(1) !skipped_due_to_budget
        | tool_result a(2) !skipped_due_to_budget | tool_result a(3) !skipped_due_to_budget
        | budget_exhausted tool_calls 0 of 2
        = budget_exhausted tool_calls
        = user "go" | assistant a(1) a(2) a(3) | tool result(1) !skipped_due_to_budget
        | tool result(2) !skipped_due_to_budget | tool result(3) !skipped_due_to_budget
        "#,
    );
    check(
        r#"
        budget tools=3 tool:b=1
        tool a
        tool b
        start
        model a(1) b(2)
        1 "x"
        2 "y"
        model b(3)
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 267 uncached 17
        | -> model 1 messages within 250
        > charged calls 1 tokens 267 uncached 17 | cycle_llm_response "" a(1) b(2)
        | -> reserve tools 2 a 1 b 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "x" | tool_call_planned b(2) | tool_call_started b(2) | -> b(2)
        > charged tools 2 a 1 b 1 | tool_result b(2) "y" | cycle_started after 4 messages
        | -> reserve calls 1 tokens 291 uncached 41 | -> model 4 messages within 250
        > charged calls 1 tokens 291 uncached 41 | cycle_llm_response "" b(3)
        | -> reserve tools 1 b 1 | tool_result b(3) !skipped_due_to_budget
        | budget_exhausted tool_calls:b 1 of 1
        # charged calls 2 tokens 558 uncached 58 tools 2 a 1 b 1 | tokens 0 or more
        | uncached 0 or more | cost 0 or more
        = budget_exhausted tool_calls:b
        = user "go" | assistant a(1) b(2) | tool result(1) "x" | tool result(2) "y"
        | assistant b(3) | tool result(3) !skipped_due_to_budget
        "#,
    );
}

#[test]
fn s08_only_what_started_is_charged() {
    check(
        r#"
        budget tools=2
        tool a
        tool b
        policy deny b "no"
        start
        model a(1) b(2)
        1 "x"
        model none(3) a(4)
        4 "y"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 267 uncached 17
        | -> model 1 messages within 250
        > charged calls 1 tokens 267 uncached 17 | cycle_llm_response "" a(1) b(2)
        | -> reserve tools 2 a 1 b 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "x" | tool_call_planned b(2) | charged tools 1 a 1
        | tool_result b(2) !policy_denied | cycle_started after 4 messages
        | -> reserve calls 1 tokens 308 uncached 58 | -> model 4 messages within 250
        > charged calls 1 tokens 308 uncached 58 | cycle_llm_response "" none(3) a(4)
        | -> reserve tools 1 a 1 | tool_call_planned none(3) | tool_result none(3) !tool_not_found
        | tool_call_planned a(4) | tool_call_started a(4) | -> a(4)
        > charged tools 1 a 1 | tool_result a(4) "y" | cycle_started after 7 messages
        | -> reserve calls 1 tokens 364 uncached 114 | -> model 7 messages within 250
        > charged calls 1 tokens 364 uncached 114 | cycle_llm_response "done"
        | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) b(2) | tool result(1) "x" | tool result(2) !policy_denied
        | assistant none(3) a(4) | tool result(3) !tool_not_found | tool result(4) "y"
        | assistant "done"
        "#,
    );
}

#[test]
fn s08_what_was_skipped_is_not_charged() {
    check(
        r#"
        budget tools=2
        tool a
        start
        model a(1) a(2)
        steer "stop it"
        1 "x"
        cancel
        model halted
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 261 uncached 11
        | -> model 1 messages within 250
        > charged calls 1 tokens 261 uncached 11 | cycle_llm_response "" a(1) a(2)
        | -> reserve tools 2 a 2 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | tool_result a(1) "x" | session_steer_interrupt after 1 "stop it"
        | tool_result a(2) !skipped_due_to_steering | run_steered after 1 prompts 1 steering 1
        | cycle_started after 5 messages | -> reserve calls 1 tokens 319 uncached 69
        | -> model 5 messages within 250
        > -x 9 interrupt
        > charged calls 1 tokens 319 uncached 69 | run_cancelled
        = cancelled
        = user "go" | assistant a(1) a(2) | tool result(1) "x"
        | tool result(2) !skipped_due_to_steering | user "stop it"
        "#,
    );
}

#[test]
fn s08_a_run_whose_calls_are_used_up_may_still_ask_or_finish() {
    check(
        r#"
        budget tools=0
        silence continue
        tool task_finish
        start
        model task_finish(1)
        1 "done" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 263 uncached 13
        | -> model 1 messages within 250
        > charged calls 1 tokens 263 uncached 13 | cycle_llm_response "" task_finish(1)
        | tool_call_planned task_finish(1) | tool_call_started task_finish(1) | -> task_finish(1)
        > tool_result task_finish(1) "done" finish | run_completed "done"
        = completed "done"
        = user "go" | assistant task_finish(1) | tool result(1) "done"
        "#,
    );
    check(
        r#"
        budget tools=0
        silence continue
        tool a
        tool task_finish
        start
        model a(1) task_finish(2)
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 269 uncached 19
        | -> model 1 messages within 250
        > charged calls 1 tokens 269 uncached 19 | cycle_llm_response "" a(1) task_finish(2)
        | -> reserve tools 1 a 1 | tool_result a(1) !skipped_due_to_budget
        | tool_result task_finish(2) !skipped_due_to_budget | budget_exhausted tool_calls
        = budget_exhausted tool_calls
        = user "go" | assistant a(1) task_finish(2) | tool result(1) !skipped_due_to_budget
        | tool result(2) !skipped_due_to_budget
        "#,
    );
}

#[test]
fn s08_a_call_that_a_hook_renames_is_paid_for_under_its_new_name() {
    check(
        r#"
        budget tools=1 tool:b=1
        tool a
        tool b
        hook h before_tool_call
        start
        model a(1)
        hook h patches b(1)
        1 "x"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 267 uncached 17
        | -> model 1 messages within 250
        > charged calls 1 tokens 267 uncached 17 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | -> hook h before a(1)
        > -> reserve b 1 | tool_call_started b(1) | -> b(1)
        > charged tools 1 b 1 | charged nothing | tool_result b(1) "x"
        | cycle_started after 3 messages | -> reserve calls 1 tokens 281 uncached 31
        | -> model 3 messages within 250
        > charged calls 1 tokens 281 uncached 31 | cycle_llm_response "done"
        | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "x" | assistant "done"
        "#,
    );
    check(
        r#"
        budget tool:b=0
        tool a parallel
        tool b parallel
        tool g parallel
        policy ask g
        hook h before_tool_call
        start
        model a(1) a(2) g(3)
        hook h nothing
        hook h patches b(2)
        1 "x"
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 273 uncached 23
        | -> model 1 messages within 250
        > charged calls 1 tokens 273 uncached 23 | cycle_llm_response "" a(1) a(2) g(3)
        | -> reserve tools 3 a 2 g 1 | tool_call_planned a(1) | tool_call_planned a(2)
        | tool_call_planned g(3) | -> hook h before a(1) | -> hook h before a(2)
        | -> hook h before g(3)
        > tool_call_started a(1) | -> a(1)
        > -> reserve b 1 | -x 7 withdraw | -x 10 interrupt
        | tool_result a(2) !skipped_due_to_budget | tool_result g(3) !skipped_due_to_budget
        > charged tools 1 a 1 | tool_result a(1) "x" | budget_exhausted tool_calls:b
        = budget_exhausted tool_calls:b
        = user "go" | assistant a(1) a(2) g(3) | tool result(1) "x"
        | tool result(2) !skipped_due_to_budget | tool result(3) !skipped_due_to_budget
        "#,
    );
}

#[test]
fn s08_a_refusal_lapses_the_questions_that_are_open() {
    check(
        r#"
        budget tool:b=0
        tool a parallel
        tool b parallel
        tool g parallel
        policy ask g
        hook h before_tool_call
        start
        model g(1) a(2)
        hook h nothing
        hook h patches b(2)
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 273 uncached 23
        | -> model 1 messages within 250
        > charged calls 1 tokens 273 uncached 23 | cycle_llm_response "" g(1) a(2)
        | -> reserve tools 2 a 1 g 1 | tool_call_planned g(1) | tool_call_planned a(2)
        | -> hook h before g(1) | -> hook h before a(2)
        > approval_requested r-8 g {} | -> human g {} within 600000 ms
        > -> reserve b 1 | charged nothing | -x 9 withdraw
        | approval_resolved r-8 skipped_due_to_budget | tool_result g(1) !skipped_due_to_budget
        | tool_result a(2) !skipped_due_to_budget | budget_exhausted tool_calls:b
        = budget_exhausted tool_calls:b
        = user "go" | assistant g(1) a(2) | tool result(1) !skipped_due_to_budget
        | tool result(2) !skipped_due_to_budget
        "#,
    );
}
