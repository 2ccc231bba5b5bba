//! Decides whether a cycle goes through its steps in order (section 2).

use crate::notation::check;

#[test]
fn s02_one_cycle_in_order() {
    check(
        r#"
        tool a
        hook h before_memory_compact before_llm after_llm before_tool_call after_tool_call
        with before_cycle interruptions approvals
        steer "and softly"
        start
        inputs "news"
        hook h nothing
        hook h nothing
        model "hm" a(1)
        hook h nothing
        hook h nothing
        provider 1 passes
        1 "one"
        hook h nothing
        interruptions none
        inputs none
        hook h nothing
        hook h nothing
        model "done"
        hook h nothing
        "#,
        r#"
        > -> inputs
        > cycle_injected_messages before_cycle 1 | session_steer_dequeued "and softly"
        | cycle_injected_messages steering 1 | cycle_started after 3 messages
        | -> hook h before compaction of 3 messages
        > -> hook h before 3 messages and 1 tools
        > -> model 3 messages
        > -> hook h after "hm" a(1)
        > cycle_llm_response "hm" a(1) | tool_call_planned a(1) | -> hook h before a(1)
        > -> provider a {}
        > tool_call_started a(1) | -> a(1)
        > -> hook h after a(1) "one"
        > tool_result a(1) "one" | -> interruptions
        > -> inputs
        > cycle_started after 5 messages | -> hook h before compaction of 5 messages
        > -> hook h before 5 messages and 1 tools
        > -> model 5 messages
        > -> hook h after "done"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | user "news" | user "and softly" | assistant "hm" a(1) | tool result(1) "one"
        | assistant "done"
        "#,
    );
}

#[test]
fn s02_what_hooks_change_of_a_request_never_enters_the_history() {
    check(
        r#"
        tool a
        tool b
        hook g before_memory_compact before_llm
        hook h before_llm
        start
        hook g inserts 0 "memory"
        hook g hides b
        hook h inserts 99 "last"
        show request
        model a(1)
        1 "one"
        hook g nothing
        hook g nothing
        hook h replaces 0 "changed"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> hook g before compaction of 1 messages
        > -> hook g before 2 messages and 2 tools
        > -> hook h before 2 messages and 1 tools
        > -> model 3 messages with [a]
        # user "memory" | user "go" | user "last"
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages
        | -> hook g before compaction of 3 messages
        > -> hook g before 3 messages and 2 tools
        > -> hook h before 3 messages and 2 tools
        > -> model 3 messages
        # user "changed" | assistant a(1) | tool result(1) "one"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
    check(
        r#"
        hook h before_llm
        start
        hook h drops 0
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> hook h before 1 messages and 0 tools
        > -> model 0 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_hook_after_the_model_shapes_what_enters_the_history() {
    check(
        r#"
        tool a
        hook g after_llm
        hook h after_llm
        start
        model "secret" a(1)
        hook g replaces 0 "[left out]"
        hook h drops 1
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -> hook g after "secret" a(1)
        > -> hook h after "[left out]" a(1)
        > cycle_llm_response "[left out]" | run_completed "[left out]"
        = completed "[left out]"
        = user "go" | assistant "[left out]"
        "#,
    );
    check(
        r#"
        tool a
        hook h after_llm
        start
        model "well"
        hook h inserts 1 a(7)
        7 "seven"
        model "done"
        hook h nothing
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -> hook h after "well"
        > cycle_llm_response "well" a(7) | tool_call_planned a(7) | tool_call_started a(7)
        | -> a(7)
        > tool_result a(7) "seven" | cycle_started after 3 messages | -> model 3 messages
        > -> hook h after "done"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "well" a(7) | tool result(7) "seven" | assistant "done"
        "#,
    );
}

#[test]
fn s02_a_hook_that_fails_before_the_model_fails_the_run() {
    check(
        r#"
        hook h before_llm
        start
        hook h fails
        "#,
        r#"
        > cycle_started after 1 messages | -> hook h before 1 messages and 0 tools
        > run_failed hook_failed
        = failed hook_failed
        = user "go"
        "#,
    );
}

#[test]
fn s02_a_hook_that_fails_after_the_model_leaves_the_answer_in_the_history() {
    check(
        r#"
        hook h after_llm
        start
        model "hello"
        hook h fails
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -> hook h after "hello"
        > cycle_llm_response "hello" | run_failed hook_failed
        = failed hook_failed
        = user "go" | assistant "hello"
        "#,
    );
}

#[test]
fn s02_a_hook_that_fails_at_a_call_leaves_a_result_for_each() {
    check(
        r#"
        tool a
        hook h before_tool_call
        start
        model a(1) a(2)
        hook h fails
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | -> hook h before a(1)
        > tool_result a(1) !skipped_due_to_failure | tool_result a(2) !skipped_due_to_failure
        | run_failed hook_failed
        = failed hook_failed
        = user "go" | assistant a(1) a(2) | tool result(1) !skipped_due_to_failure
        | tool result(2) !skipped_due_to_failure
        "#,
    );
}

#[test]
fn s02_a_hook_after_the_model_that_gives_edits_of_another_point_has_failed() {
    check(
        r#"
        hook h after_llm
        start
        model "hello"
        hook h misfits
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -> hook h after "hello"
        > cycle_llm_response "hello" | run_failed hook_failed
        = failed hook_failed
        = user "go" | assistant "hello"
        "#,
    );
}

#[test]
fn s02_a_hook_before_the_model_that_gives_edits_of_another_point_has_failed() {
    check(
        r#"
        hook h before_llm
        start
        hook h misfits
        "#,
        r#"
        > cycle_started after 1 messages | -> hook h before 1 messages and 0 tools
        > run_failed hook_failed
        = failed hook_failed
        = user "go"
        "#,
    );
}

#[test]
fn s02_messages_before_a_cycle() {
    check(
        r#"
        with before_cycle
        start
        inputs "one" "two"
        model "done"
        "#,
        r#"
        > -> inputs
        > cycle_injected_messages before_cycle 2 | cycle_started after 3 messages
        | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | user "one" | user "two" | assistant "done"
        "#,
    );
    check(
        r#"
        with before_cycle
        start
        inputs fail
        "#,
        r#"
        > -> inputs
        > run_failed before_cycle_failed
        = failed before_cycle_failed
        = user "go"
        "#,
    );
}
