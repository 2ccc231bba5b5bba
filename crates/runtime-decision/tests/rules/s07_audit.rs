//! Decides what becomes of a run whose model calls cannot be audited (section 7).

use runtime_ports::CommitDisposition;

use crate::notation::{check, machine};

#[test]
fn s07_what_cannot_be_audited_is_not_sent_and_the_run_fails() {
    check(
        r#"
        tool a
        start
        model a(1)
        1 "one"
        model unauditable
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > run_failed context_audit_failed
        # 1 attempts, input None (0, false)
        = failed context_audit_failed
        = user "go" | assistant a(1) | tool result(1) "one"
        "#,
    );
}

#[test]
fn s07_an_answer_whose_audit_failed_counts_and_nothing_runs_from_it() {
    check(
        r#"
        tool a
        hook h after_llm
        start
        model unaudited "I will" a(1) usage 3 4
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "I will" a(1) | tool_result a(1) !skipped_due_to_failure
        | run_failed context_audit_failed
        # 1 attempts, input Some(3) (3, true)
        = failed context_audit_failed
        = user "go" | assistant "I will" a(1) | tool result(1) !skipped_due_to_failure
        "#,
    );
    check(
        r#"
        start
        model unaudited "hello"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "hello" | run_failed context_audit_failed
        = failed context_audit_failed
        = user "go" | assistant "hello"
        "#,
    );
}

#[test]
fn s07_the_end_says_whether_the_model_was_called() {
    use CommitDisposition::{Committed, NotCommitted};
    for (word, commit) in [("unauditable", NotCommitted), ("unaudited \"x\"", Committed)] {
        let run = machine(&format!("start\nmodel {word}"));
        let error = run.result().expect("it ended").error.expect("it failed");
        assert_eq!(error.failure.expect("of a port").commit, commit, "{word}");
    }
}

#[test]
fn s07_a_cancelled_run_stays_cancelled_when_its_audit_fails() {
    check(
        r#"
        start
        cancel
        model unaudited "hello"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 interrupt
        > cycle_llm_response "hello" | run_cancelled
        = cancelled
        = user "go" | assistant "hello"
        "#,
    );
}

#[test]
fn s07_a_suspension_does_not_outlive_a_failed_audit() {
    check(
        r#"
        start
        suspend
        model unaudited "hello"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > -x 2 settle
        > cycle_llm_response "hello" | run_failed context_audit_failed
        = failed context_audit_failed
        = user "go" | assistant "hello"
        "#,
    );
}
