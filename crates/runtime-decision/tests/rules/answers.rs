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
        "#,
    );
}

#[test]
fn the_first_refusal_brings_one_more_cycle_and_the_second_the_end() {
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
        "#,
    );
    check(
        r#"
        answers
        start
        model "one"
        model "two"
        "#,
        r#"
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
        "#,
    );
    check(
        r#"
        answers
        start
        model " "
        "#,
        r#"
        "#,
    );
    check(
        r#"
        answers
        start
        model cut "{\"n\":1}"
        "#,
        r#"
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
        "#,
    );
}

#[test]
fn a_run_is_stopped_and_suspended_while_an_answer_is_checked() {
    check(
        r#"
        answers
        start
        model "1"
        cancel
        "#,
        r#"
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
        "#,
    );
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
        "#,
    );
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
