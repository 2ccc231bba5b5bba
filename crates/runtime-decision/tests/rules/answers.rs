//! Decides what becomes of a text with which a run would end, where the agent's answer has a schema.

use std::sync::Arc;

use runtime_decision::{AnswerSchema, DefinitionError, Plan};
use serde_json::json;

use crate::notation::{check, definition};

#[test]
fn an_answer_that_is_found_good_completes_the_run() {
    check(
        r#"
        answers
        start
        model "It is {\"n\":1}."
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "It is {\"n\":1}." | -> verdict on {"n":1}
        > run_completed "It is {\"n\":1}."
        = completed "It is {\"n\":1}.", which is {"n":1}
        = system ""… | user "go" | assistant "It is {\"n\":1}."
        "#,
    );
    check(
        r#"
        answers
        tool f
        start
        model f(1)
        1 "{\"n\":1}" finish
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "" f(1) | tool_call_planned f(1) | tool_call_started f(1) | -> f(1)
        > tool_result f(1) "{\"n\":1}" finish | -> verdict on {"n":1}
        > run_completed "{\"n\":1}"
        = completed "{\"n\":1}", which is {"n":1}
        = system ""… | user "go" | assistant f(1) | tool result(1) "{\"n\":1}"
        "#,
    );
}

#[test]
fn the_first_refusal_brings_one_more_cycle() {
    check(
        r#"
        answers
        start
        model "{\"n\":\"é\"}"
        verdict /n must be an integer
        show request
        model "{\"n\":2}"
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "{\"n\":\"é\"}" | -> verdict on {"n":"é"}
        > cycle_injected_messages answer 1 | cycle_started after 4 messages | -> model 4 messages
        # system ""… | user "go" | assistant "{\"n\":\"é\"}"
        | user "Your answer cannot be used: /n of the answer must be an integer. Answer again with one JSON value that follows the schema, whole and with nothing else."
        > cycle_llm_response "{\"n\":2}" | -> verdict on {"n":2}
        > run_completed "{\"n\":2}"
        = completed "{\"n\":2}", which is {"n":2}
        = system ""… | user "go" | assistant "{\"n\":\"é\"}"
        | user "Your answer cannot be used: /n of the answer must be an integer. Answer again with one JSON value that follows the schema, whole and with nothing else."
        | assistant "{\"n\":2}"
        "#,
    );
}

#[test]
fn the_second_refusal_is_the_end() {
    check(
        r#"
        answers
        start
        model "one"
        model "two"
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "one" | cycle_injected_messages answer 1
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "two" | run_failed answer_invalid
        = failed answer_invalid
        = system ""… | user "go" | assistant "one"
        | user "Your answer cannot be used: the answer holds no JSON value. Answer again with one JSON value that follows the schema, whole and with nothing else."
        | assistant "two"
        "#,
    );
    check(
        r#"
        answers
        start
        model "[1] or [2]"
        model "{\"n\":\"x\"}"
        verdict /n must be an integer
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "[1] or [2]" | cycle_injected_messages answer 1
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "{\"n\":\"x\"}" | -> verdict on {"n":"x"}
        > run_failed answer_invalid
        = failed answer_invalid
        = system ""… | user "go" | assistant "[1] or [2]"
        | user "Your answer cannot be used: the answer holds several JSON values, where one is wanted. Answer again with one JSON value that follows the schema, whole and with nothing else."
        | assistant "{\"n\":\"x\"}"
        "#,
    );
}

#[test]
fn the_cycle_that_corrects_may_work() {
    check(
        r#"
        answers
        tool f
        start
        model "one"
        model f(1)
        1 "{\"n\":1}" finish
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "one" | cycle_injected_messages answer 1
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "" f(1) | tool_call_planned f(1) | tool_call_started f(1) | -> f(1)
        > tool_result f(1) "{\"n\":1}" finish | -> verdict on {"n":1}
        > run_completed "{\"n\":1}"
        = completed "{\"n\":1}", which is {"n":1}
        = system ""… | user "go" | assistant "one"
        | user "Your answer cannot be used: the answer holds no JSON value. Answer again with one JSON value that follows the schema, whole and with nothing else."
        | assistant f(1) | tool result(1) "{\"n\":1}"
        "#,
    );
    check(
        r#"
        answers
        tool f
        cycles 3
        start
        model f(1)
        1 "one" finish
        model f(2)
        2 "one" finish
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "" f(1) | tool_call_planned f(1) | tool_call_started f(1) | -> f(1)
        > tool_result f(1) "one" finish | cycle_injected_messages answer 1
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" f(2) | tool_call_planned f(2) | tool_call_started f(2) | -> f(2)
        > tool_result f(2) "one" finish | run_failed answer_invalid
        = failed answer_invalid
        = system ""… | user "go" | assistant f(1) | tool result(1) "one"
        | user "Your answer cannot be used: the answer holds no JSON value. Answer again with one JSON value that follows the schema, whole and with nothing else."
        | assistant f(2) | tool result(2) "one"
        "#,
    );
}

#[test]
fn there_is_no_cycle_beyond_the_limit_to_correct_in() {
    check(
        r#"
        answers
        cycles 1
        start
        model "one"
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "one" | run_failed answer_invalid
        = failed answer_invalid
        = system ""… | user "go" | assistant "one"
        "#,
    );
}

#[test]
fn only_what_would_complete_the_run_is_checked() {
    check(
        r#"
        answers
        silence waits
        start
        model "which one?"
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "which one?" | run_wait_user "which one?"
        = waits for "which one?"
        = system ""… | user "go" | assistant "which one?"
        "#,
    );
    check(
        r#"
        answers
        silence continue
        tool task_finish
        start
        model "thinking"
        model task_finish(1){"message":"1"}
        1 "{\"message\":\"1\"}" finish
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "thinking" | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "" task_finish(1){"message":"1"}
        | tool_call_planned task_finish(1){"message":"1"}
        | tool_call_started task_finish(1){"message":"1"} | -> task_finish(1){"message":"1"}
        > tool_result task_finish(1) "{\"message\":\"1\"}" finish | -> verdict on 1
        > run_completed "1"
        = completed "1", which is 1
        = system ""… | user "go" | assistant "thinking"
        | user "Go on with the task. When it is done, call the tool task_finish with the result; an answer without a tool call does not end the task."
        | assistant task_finish(1){"message":"1"} | tool result(1) "{\"message\":\"1\"}"
        "#,
    );
}

#[test]
fn an_answer_that_is_none_is_not_checked() {
    check(
        r#"
        answers
        start
        model " "
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "" | run_failed model_empty
        = failed model_empty
        = system ""… | user "go"
        "#,
    );
    check(
        r#"
        answers
        start
        model cut "{\"n\":1}"
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "{\"n\":1}" | run_failed model_output_limit
        = failed model_output_limit
        = system ""… | user "go" | assistant "{\"n\":1}"
        "#,
    );
}

#[test]
fn what_is_said_while_an_answer_is_checked_is_heard_before_the_end() {
    check(
        r#"
        answers
        start
        model "1"
        steer "and two"
        verdict good
        model "2"
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "1" | -> verdict on 1
        > session_steer_dequeued "and two" | cycle_injected_messages steering 1
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "2" | -> verdict on 2
        > run_completed "2"
        = completed "2", which is 2
        = system ""… | user "go" | assistant "1" | user "and two" | assistant "2"
        "#,
    );
    check(
        r#"
        answers
        start
        model "1"
        steer "and two"
        verdict must be an array
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "1" | -> verdict on 1
        > cycle_injected_messages answer 1 | session_steer_dequeued "and two"
        | cycle_injected_messages steering 1 | cycle_started after 5 messages
        | -> model 5 messages
        = awaiting_model
        "#,
    );
    check(
        r#"
        answers
        cycles 1
        start
        model "1"
        steer "and two"
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "1" | -> verdict on 1
        > run_completed "1"
        = completed "1", which is 1
        = system ""… | user "go" | assistant "1"
        = returned "and two"
        "#,
    );
}

#[test]
fn a_run_is_stopped_while_an_answer_is_checked() {
    check(
        r#"
        answers
        start
        model "1"
        cancel
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "1" | -> verdict on 1
        > -x 3 withdraw | run_cancelled
        = cancelled
        = system ""… | user "go" | assistant "1"
        "#,
    );
    check(
        r#"
        answers
        start
        model "1"
        time
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "1" | -> verdict on 1
        > -x 3 withdraw | budget_exhausted wall_time
        = budget_exhausted wall_time
        = system ""… | user "go" | assistant "1"
        "#,
    );
}

#[test]
fn a_run_is_suspended_while_an_answer_is_checked() {
    check(
        r#"
        answers
        start
        model "1"
        suspend
        verdict must be an array
        store
        resume
        model "[1]"
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "1" | -> verdict on 1
        > -x 3 settle
        > cycle_injected_messages answer 1 | run_suspended
        > run_resumed | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "[1]" | -> verdict on [1]
        > run_completed "[1]"
        = completed "[1]", which is [1]
        = system ""… | user "go" | assistant "1"
        | user "Your answer cannot be used: the answer must be an array. Answer again with one JSON value that follows the schema, whole and with nothing else."
        | assistant "[1]"
        "#,
    );
    check(
        r#"
        answers
        start
        suspend
        model "1"
        store
        show pending
        resume
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > -x 2 settle
        > cycle_llm_response "1" | run_suspended
        # 3 held -> verdict on 1
        > run_resumed | -> verdict on 1
        > run_completed "1"
        = completed "1", which is 1
        = system ""… | user "go" | assistant "1"
        "#,
    );
}

#[test]
fn a_run_is_lost_while_an_answer_is_checked() {
    check(
        r#"
        answers
        start
        model "1"
        crash
        resume
        verdict good
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "1" | -> verdict on 1
        > run_resumed | -> verdict on 1
        > run_completed "1"
        = completed "1", which is 1
        = system ""… | user "go" | assistant "1"
        "#,
    );
    check(
        r#"
        answers
        start
        model "one"
        store
        model "two"
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "one" | cycle_injected_messages answer 1
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "two" | run_failed answer_invalid
        = failed answer_invalid
        = system ""… | user "go" | assistant "one"
        | user "Your answer cannot be used: the answer holds no JSON value. Answer again with one JSON value that follows the schema, whole and with nothing else."
        | assistant "two"
        "#,
    );
}

#[test]
fn the_schema_is_told_behind_the_instructions_and_once() {
    check(
        r#"
        answers
        instructions "Be kind."
        start
        show request
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        # system "Be kind.\n\n"… | user "go"
        = awaiting_model
        "#,
    );
    check(
        r#"
        answers
        said system "Be kind."
        start
        show request
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        # system "Be kind.\n\n"… | user "go"
        = awaiting_model
        "#,
    );
}

#[test]
fn a_name_that_providers_refuse_is_refused() {
    for (name, is_good) in [("a-B_9", true), ("", false), ("é", false), ("a b", false)] {
        let schema = AnswerSchema { name: name.into(), schema: Arc::new(json!(true)) };
        let refused =
            Plan::new(runtime_decision::Definition { answer: Some(schema), ..definition() });
        let is_refused = matches!(refused, Err(DefinitionError::InvalidAnswerName { .. }));
        assert_eq!((is_good, is_refused), (is_good, !is_good), "{name}");
    }
}
