//! Decides what an answer without calls means (section 6).

use crate::notation::check;

#[test]
fn s06_finish_completes_with_the_text() {
    check(
        r#"
        start
        model "the " "answer"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "the answer" | run_completed "the answer"
        = completed "the answer"
        = user "go" | assistant "the " "answer"
        "#,
    );
}

#[test]
fn s06_an_empty_answer_is_a_failure() {
    check(
        r#"
        start
        model
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" | run_failed model_empty
        = failed model_empty
        = user "go"
        "#,
    );
    check(
        r#"
        silence waits
        start
        model " "
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" | run_failed model_empty
        = failed model_empty
        = user "go"
        "#,
    );
}

#[test]
fn s06_continue_nudges_until_the_task_is_finished() {
    check(
        r#"
        silence continue
        tool task_finish
        start
        model "thinking"
        show request
        model task_finish(1){"message":"done"}
        1 "{\"message\":\"done\"}" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "thinking" | cycle_started after 3 messages | -> model 3 messages
        # user "go" | assistant "thinking"
        | user "Go on with the task. When it is done, call the tool task_finish with the result; an answer without a tool call does not end the task."
        > cycle_llm_response "" task_finish(1){"message":"done"}
        | tool_call_planned task_finish(1){"message":"done"}
        | tool_call_started task_finish(1){"message":"done"} | -> task_finish(1){"message":"done"}
        > tool_result task_finish(1) "{\"message\":\"done\"}" finish | run_completed "done"
        = completed "done"
        = user "go" | assistant "thinking"
        | user "Go on with the task. When it is done, call the tool task_finish with the result; an answer without a tool call does not end the task."
        | assistant task_finish(1){"message":"done"} | tool result(1) "{\"message\":\"done\"}"
        "#,
    );
}

#[test]
fn s06_the_last_cycle_has_no_nudge() {
    check(
        r#"
        silence continue
        tool task_finish
        cycles 2
        start
        model "one"
        model "two"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "two" | run_max_cycles "two"
        = max_cycles "two"
        = user "go" | assistant "one"
        | user "Go on with the task. When it is done, call the tool task_finish with the result; an answer without a tool call does not end the task."
        | assistant "two"
        "#,
    );
}

#[test]
fn s06_waiting_takes_the_text_as_the_reason() {
    check(
        r#"
        silence waits
        start
        model "which one?"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "which one?" | run_wait_user "which one?"
        = waits for "which one?"
        = user "go" | assistant "which one?"
        "#,
    );
}
