//! Decides whether what is said to a run reaches it once, or comes back (section 3).
//!
//! Length: scripts with all that came of them, one test for each rule of the section.

use crate::notation::check;

#[test]
fn s03_what_was_said_becomes_messages_at_the_start_of_a_cycle() {
    check(
        r#"
        start alone
        steer "softly"
        steer "and slowly"
        profile
        show request
        model "done"
        "#,
        r#"
        > run_started | -> profile
        > session_steer_dequeued "softly" | session_steer_dequeued "and slowly"
        | cycle_injected_messages steering 2 | cycle_started after 3 messages
        | -> model 3 messages
        # user "go" | user "softly" | user "and slowly"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | user "softly" | user "and slowly" | assistant "done"
        "#,
    );
}

#[test]
fn s03_before_the_start_too() {
    check(
        r#"
        steer "softly"
        start
        model "done"
        "#,
        r#"
        > session_steer_dequeued "softly" | cycle_injected_messages steering 1
        | cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | user "softly" | assistant "done"
        "#,
    );
}

#[test]
fn s03_after_a_tool_the_rest_of_the_batch_is_skipped() {
    check(
        r#"
        tool a
        start
        model a(1) a(2) a(3)
        steer "not the rest"
        steer "please"
        1 "one"
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) a(3) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | session_steer_interrupt after 1 "not the rest"
        | session_steer_interrupt after 1 "please" | tool_result a(2) !skipped_due_to_steering
        | tool_result a(3) !skipped_due_to_steering | run_steered after 1 prompts 2 steering 2
        | cycle_started after 7 messages | -> model 7 messages
        # tool result(1) "one"
        | tool result(2) "{\"ok\":false,\"error\":\"not run: the user said something first\",\"error_code\":\"skipped_due_to_steering\",\"tool_name\":\"a\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"not run: the user said something first\",\"error_code\":\"skipped_due_to_steering\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) a(3) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | tool result(3) !skipped_due_to_steering
        | user "not the rest" | user "please" | assistant "done"
        "#,
    );
}

#[test]
fn s03_after_the_last_tool_too() {
    check(
        r#"
        tool a
        start
        model a(1)
        steer "more"
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | session_steer_interrupt after 1 "more"
        | run_steered after 1 prompts 1 steering 1 | cycle_started after 4 messages
        | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | user "more" | assistant "done"
        "#,
    );
}

#[test]
fn s03_the_directive_of_the_tool_that_was_interrupted_is_ignored() {
    check(
        r#"
        tool a
        start
        model a(1)
        steer "not yet"
        1 "one" finish
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" finish | session_steer_interrupt after 1 "not yet"
        | run_steered after 1 prompts 1 steering 1 | cycle_started after 4 messages
        | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | user "not yet" | assistant "done"
        "#,
    );
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        steer "not yet"
        1 "who?" wait
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "who?" wait | session_steer_interrupt after 1 "not yet"
        | tool_result a(2) !skipped_due_to_steering | run_steered after 1 prompts 1 steering 1
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "who?"
        | tool result(2) !skipped_due_to_steering | user "not yet" | assistant "done"
        "#,
    );
}

#[test]
fn s03_interruptions_come_after_prompts_and_both_after_pictures() {
    check(
        r#"
        tool a
        window 100000
        images
        with interruptions
        start
        model a(1) a(2)
        1 "one" image
        steer "softly"
        interruptions "the house is on fire"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | -> interruptions
        > session_steer_interrupt after 1 "softly" | tool_result a(2) !skipped_due_to_steering
        | run_steered after 1 prompts 1 steering 2 | cycle_started after 7 messages
        | -> model 7 messages
        # user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | user "The picture that a gave:" image
        | user "softly" | user "the house is on fire"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | user "The picture that a gave:" image
        | user "softly" | user "the house is on fire" | assistant "done"
        "#,
    );
}

#[test]
fn s03_a_provider_alone_interrupts() {
    check(
        r#"
        tool a
        with interruptions
        start
        model a(1) a(2)
        1 "one"
        interruptions "fire"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | -> interruptions
        > tool_result a(2) !skipped_due_to_steering | run_steered after 1 prompts 0 steering 1
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | user "fire" | assistant "done"
        "#,
    );
    check(
        r#"
        tool a
        with interruptions
        start
        model a(1) a(2)
        1 "one"
        interruptions fail
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | -> interruptions
        > tool_result a(2) !skipped_due_to_failure | run_failed interruption_provider_failed
        = failed interruption_provider_failed
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_failure
        "#,
    );
}

#[test]
fn s03_calls_that_are_still_asking_are_skipped_and_what_runs_goes_on() {
    check(
        r#"
        tool a parallel
        tool b parallel
        policy ask b
        start
        model a(1) b(2) a(3)
        steer "leave it"
        1 "one"
        3 "three"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) b(2) a(3) | tool_call_planned a(1) | tool_call_planned b(2)
        | tool_call_planned a(3) | tool_call_started a(1) | -> a(1) | approval_requested r-8 b {}
        | -> human b {} within 600000 ms | tool_call_started a(3) | -> a(3)
        > -x 9 withdraw | tool_result a(1) "one" | session_steer_interrupt after 1 "leave it"
        | approval_resolved r-8 skipped_due_to_steering
        | tool_result b(2) !skipped_due_to_steering
        > tool_result a(3) "three" | run_steered after 1 prompts 1 steering 1
        | cycle_started after 6 messages | -> model 6 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) b(2) a(3) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | tool result(3) "three" | user "leave it"
        | assistant "done"
        "#,
    );
}

#[test]
fn s03_what_is_said_while_others_still_run_is_added() {
    check(
        r#"
        tool a parallel
        start
        model a(1) a(2)
        steer "first"
        1 "one"
        steer "second"
        2 "two"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_planned a(2)
        | tool_call_started a(1) | -> a(1) | tool_call_started a(2) | -> a(2)
        > tool_result a(1) "one" | session_steer_interrupt after 1 "first"
        > tool_result a(2) "two" | session_steer_interrupt after 2 "second"
        | run_steered after 1 prompts 2 steering 2 | cycle_started after 6 messages
        | -> model 6 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one" | tool result(2) "two"
        | user "first" | user "second" | assistant "done"
        "#,
    );
}

#[test]
fn s03_after_an_approval_the_call_itself_is_skipped() {
    check(
        r#"
        tool a
        policy ask a
        start
        model a(1)
        steer "no, wait"
        answer 1 approves
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 600000 ms
        > approval_resolved r-4 approved | session_steer_interrupt after 1 "no, wait"
        | tool_result a(1) !skipped_due_to_steering | run_steered after 1 prompts 1 steering 1
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) !skipped_due_to_steering | user "no, wait"
        | assistant "done"
        "#,
    );
    check(
        r#"
        tool a
        policy ask a
        start
        model a(1) a(2)
        steer "no, wait"
        answer 1 denies "no"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 600000 ms
        > approval_resolved r-4 approval_denied | tool_result a(1) !approval_denied
        | session_steer_interrupt after 1 "no, wait" | tool_result a(2) !skipped_due_to_steering
        | run_steered after 1 prompts 1 steering 1 | cycle_started after 5 messages
        | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) !approval_denied
        | tool result(2) !skipped_due_to_steering | user "no, wait" | assistant "done"
        "#,
    );
}

#[test]
fn s03_a_run_that_may_not_be_interrupted_hears_at_the_start_of_a_cycle_only() {
    check(
        r#"
        tool a
        no interruption
        start
        model a(1) a(2)
        steer "more"
        1 "one"
        2 "two"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | tool_call_planned a(2) | tool_call_started a(2) | -> a(2)
        > tool_result a(2) "two" | session_steer_dequeued "more"
        | cycle_injected_messages steering 1 | cycle_started after 5 messages
        | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one" | tool result(2) "two"
        | user "more" | assistant "done"
        "#,
    );
}

#[test]
fn s03_what_comes_while_an_answer_would_end_the_run_takes_one_more_cycle() {
    check(
        r#"
        start
        steer "and the other?"
        model "done"
        model "that too"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "done" | session_steer_dequeued "and the other?"
        | cycle_injected_messages steering 1 | cycle_started after 3 messages
        | -> model 3 messages
        > cycle_llm_response "that too" | run_completed "that too"
        = completed "that too"
        = user "go" | assistant "done" | user "and the other?" | assistant "that too"
        "#,
    );
}

#[test]
fn s03_at_the_limit_it_is_returned() {
    check(
        r#"
        cycles 1
        start
        steer "and the other?"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        = returned "and the other?"
        "#,
    );
    check(
        r#"
        cycles 1
        tool a
        start
        model a(1)
        steer "and the other?"
        1 "one" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" finish | run_completed "one"
        = completed "one"
        = user "go" | assistant a(1) | tool result(1) "one"
        = returned "and the other?"
        "#,
    );
    check(
        r#"
        cycles 1
        tool a
        start
        model a(1)
        steer "and the other?"
        1 "one"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | run_max_cycles ""
        = max_cycles ""
        = user "go" | assistant a(1) | tool result(1) "one"
        = returned "and the other?"
        "#,
    );
}

#[test]
fn s03_at_the_limit_it_still_keeps_calls_from_being_started() {
    check(
        r#"
        cycles 1
        tool a
        start
        model a(1) a(2)
        steer "do not delete it"
        1 "one"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | session_steer_interrupt after 1 "do not delete it"
        | tool_result a(2) !skipped_due_to_steering | run_steered after 1 prompts 1 steering 1
        | run_max_cycles ""
        = max_cycles ""
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | user "do not delete it"
        "#,
    );
}

#[test]
fn s03_a_run_that_ends_first_returns_what_was_said() {
    check(
        r#"
        start
        steer "softly"
        model fails
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > run_failed model_failed
        = failed model_failed
        = user "go"
        = returned "softly"
        "#,
    );
    check(
        r#"
        start
        steer "softly"
        cancel
        model halted
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 interrupt
        > run_cancelled
        = cancelled
        = user "go"
        = returned "softly"
        "#,
    );
}

#[test]
fn s03_a_message_is_taken_once_and_says_something() {
    use runtime_decision::{Happened, Refused};

    let mut run = crate::notation::machine("start alone");
    let mut say = |steering_id, prompt: &str| {
        let happened = Happened::Steered { steering_id, prompt: prompt.into() };
        crate::notation::feed(&mut run, happened)
    };
    assert_eq!(say(3, "a"), Ok(()));
    assert_eq!(say(3, "a"), Err(Refused::SteeringRepeated { steering_id: 3 }));
    assert_eq!(say(2, "b"), Err(Refused::SteeringRepeated { steering_id: 2 }));
    assert_eq!(say(4, " \n"), Err(Refused::SteeringBlank { steering_id: 4 }));
    assert_eq!(say(4, "é"), Ok(()));
}

#[test]
fn s03_a_suspended_run_keeps_what_is_said() {
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        suspend
        1 "one"
        steer "not the second"
        store
        resume
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > -x 5 settle
        > tool_result a(1) "one" | run_suspended
        > run_resumed | session_steer_interrupt after 1 "not the second"
        | tool_result a(2) !skipped_due_to_steering | run_steered after 1 prompts 1 steering 1
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | user "not the second" | assistant "done"
        "#,
    );
}
