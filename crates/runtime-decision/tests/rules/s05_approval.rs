//! Decides whether nothing gated runs without a decision about exactly it (section 5).
//!
//! Length: scripts with all that came of them, one test for each rule of the section.

use crate::notation::check;

#[test]
fn s05_what_is_not_gated_asks_nobody() {
    check(
        r#"
        tool a read
        policy ask effects
        start
        model a(1)
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s05_a_provider_may_gate_what_the_policy_does_not() {
    check(
        r#"
        tool a
        with approvals
        start
        model a(1) a(2)
        provider 1 asks
        answer 1 approves
        1 "one"
        provider 2 passes
        2 "two"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | -> provider a {}
        > approval_requested r-4 a {} | -> human a {} within 600000 ms
        > approval_resolved r-4 approved | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | tool_call_planned a(2) | -> provider a {}
        > tool_call_started a(2) | -> a(2)
        > tool_result a(2) "two" | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one" | tool result(2) "two"
        | assistant "done"
        "#,
    );
}

#[test]
fn s05_a_provider_cannot_let_pass_what_the_policy_gates() {
    check(
        r#"
        tool a
        policy ask a
        with approvals
        start
        model a(1)
        provider 1 passes
        answer 1 approves
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | -> provider a {}
        > approval_requested r-4 a {} | -> human a {} within 600000 ms
        > approval_resolved r-4 approved | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s05_a_decision_at_once_leaves_the_pair_too() {
    check(
        r#"
        tool a
        policy ask a
        with approvals
        start
        model a(1) a(2) a(3)
        provider 1 approves
        1 "one"
        provider 2 denies "not so"
        provider 3 lapses "nobody there"
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) a(3) | tool_call_planned a(1) | -> provider a {}
        > approval_requested r-4 a {} | approval_resolved r-4 approved | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | tool_call_planned a(2) | -> provider a {}
        > approval_requested r-9 a {} | approval_resolved r-9 approval_denied
        | tool_result a(2) !approval_denied | tool_call_planned a(3) | -> provider a {}
        > approval_requested r-12 a {} | approval_resolved r-12 approval_timeout
        | tool_result a(3) !approval_timeout | cycle_started after 5 messages
        | -> model 5 messages
        # tool result(1) "one"
        | tool result(2) "{\"ok\":false,\"error\":\"not so\",\"error_code\":\"approval_denied\",\"tool_name\":\"a\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"nobody there\",\"error_code\":\"approval_timeout\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) a(3) | tool result(1) "one"
        | tool result(2) !approval_denied | tool result(3) !approval_timeout | assistant "done"
        "#,
    );
}

#[test]
fn s05_the_end_of_the_task_is_exempt() {
    check(
        r#"
        silence continue
        tool task_finish
        policy ask effects
        with approvals
        start
        model task_finish(1)
        1 "done" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" task_finish(1) | tool_call_planned task_finish(1)
        | tool_call_started task_finish(1) | -> task_finish(1)
        > tool_result task_finish(1) "done" finish | run_completed "done"
        = completed "done"
        = user "go" | assistant task_finish(1) | tool result(1) "done"
        "#,
    );
}

#[test]
fn s05_a_provider_that_fails_fails_the_run() {
    check(
        r#"
        tool a parallel
        policy ask a
        with approvals
        start
        model a(1) a(2)
        provider 1 asks
        provider 2 fails
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_planned a(2)
        | -> provider a {} | -> provider a {}
        > approval_requested r-5 a {} | -> human a {} within 600000 ms
        > -x 9 withdraw | approval_resolved r-5 skipped_due_to_failure
        | tool_result a(1) !skipped_due_to_failure | tool_result a(2) !skipped_due_to_failure
        | run_failed approval_provider_failed
        = failed approval_provider_failed
        = user "go" | assistant a(1) a(2) | tool result(1) !skipped_due_to_failure
        | tool result(2) !skipped_due_to_failure
        "#,
    );
}

#[test]
fn s05_denials_are_results_for_the_model() {
    check(
        r#"
        tool a parallel
        policy ask a
        start
        model a(1) a(2) a(3) a(4) a(5)
        answer 1 denies "not that é"
        answer 2 denies ""
        answer 3 lapses
        answer 4 shrugs
        answer 5 broken
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) a(3) a(4) a(5) | tool_call_planned a(1)
        | tool_call_planned a(2) | tool_call_planned a(3) | tool_call_planned a(4)
        | tool_call_planned a(5) | approval_requested r-8 a {} | -> human a {} within 600000 ms
        | approval_requested r-10 a {} | -> human a {} within 600000 ms
        | approval_requested r-12 a {} | -> human a {} within 600000 ms
        | approval_requested r-14 a {} | -> human a {} within 600000 ms
        | approval_requested r-16 a {} | -> human a {} within 600000 ms
        > approval_resolved r-8 approval_denied | tool_result a(1) !approval_denied
        > approval_resolved r-10 approval_denied | tool_result a(2) !approval_denied
        > approval_resolved r-12 approval_timeout | tool_result a(3) !approval_timeout
        > approval_resolved r-14 approval_unresolved | tool_result a(4) !approval_unresolved
        > approval_resolved r-16 approval_broker_error | tool_result a(5) !approval_broker_error
        | cycle_started after 7 messages | -> model 7 messages
        # tool result(1) "{\"ok\":false,\"error\":\"not that é\",\"error_code\":\"approval_denied\",\"tool_name\":\"a\"}"
        | tool result(2) "{\"ok\":false,\"error\":\"the call was denied\",\"error_code\":\"approval_denied\",\"tool_name\":\"a\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"nobody decided in time\",\"error_code\":\"approval_timeout\",\"tool_name\":\"a\"}"
        | tool result(4) "{\"ok\":false,\"error\":\"no decision was given\",\"error_code\":\"approval_unresolved\",\"tool_name\":\"a\"}"
        | tool result(5) "{\"ok\":false,\"error\":\"no screen\",\"error_code\":\"approval_broker_error\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) a(3) a(4) a(5) | tool result(1) !approval_denied
        | tool result(2) !approval_denied | tool result(3) !approval_timeout
        | tool result(4) !approval_unresolved | tool result(5) !approval_broker_error
        | assistant "done"
        "#,
    );
}

#[test]
fn s05_somebody_may_decide_through_the_host() {
    check(
        r#"
        tool a parallel
        policy ask a
        start
        model a(1) a(2)
        approve 2
        deny 1 "no"
        2 "two"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_planned a(2)
        | approval_requested r-5 a {} | -> human a {} within 600000 ms
        | approval_requested r-7 a {} | -> human a {} within 600000 ms
        > -x 8 withdraw | approval_resolved r-7 approved | tool_call_started a(2) | -> a(2)
        > -x 6 withdraw | approval_resolved r-5 approval_denied
        | tool_result a(1) !approval_denied
        > tool_result a(2) "two" | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) !approval_denied | tool result(2) "two"
        | assistant "done"
        "#,
    );
}

#[test]
fn s05_the_first_decision_stands() {
    check(
        r#"
        tool a
        policy ask a
        start
        model a(1)
        approve 1
        deny 1 "too late"
        1 "one"
        approve 1
        approve r-99
        approve x-4
        model "done"
        approve 1
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 600000 ms
        > -x 5 withdraw | approval_resolved r-4 approved | tool_call_started a(1) | -> a(1)
        > !! approval r-4 was decided before; the first decision stands
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > !! approval r-4 was decided before; the first decision stands
        > !! no approval r-99 is asked for; take the id from approval_requested
        > !! no approval x-4 is asked for; take the id from approval_requested
        > cycle_llm_response "done" | run_completed "done"
        > !! the run has ended; start another
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s05_the_first_decision_stands_while_suspended_too() {
    check(
        r#"
        tool a
        policy ask a
        start
        model a(1)
        suspend
        deny 1 "no"
        approve 1
        store
        approve 1
        show approvals
        show pending
        resume
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 600000 ms
        > -x 5 withdraw | run_suspended r-4
        > !! approval r-4 was decided before; the first decision stands
        > !! approval r-4 was decided before; the first decision stands
        > run_resumed | approval_resolved r-4 approval_denied | tool_result a(1) !approval_denied
        | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) !approval_denied | assistant "done"
        "#,
    );
}

#[test]
fn s05_a_decision_given_later_in_another_process_continues_exactly_there() {
    check(
        r#"
        tool delete parallel
        tool list parallel read
        policy ask delete
        start
        model delete(1){"path":"é"} list(2) delete(3){"path":"b"}
        2 "a b"
        suspend
        store
        show approvals
        show pending
        approve 3
        store
        resume
        3 "gone"
        approve 1
        1 "gone too"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" delete(1){"path":"é"} list(2) delete(3){"path":"b"}
        | tool_call_planned delete(1){"path":"é"} | tool_call_planned list(2)
        | tool_call_planned delete(3){"path":"b"} | approval_requested r-6 delete {"path":"é"}
        | -> human delete {"path":"é"} within 600000 ms | tool_call_started list(2) | -> list(2)
        | approval_requested r-10 delete {"path":"b"}
        | -> human delete {"path":"b"} within 600000 ms
        > tool_result list(2) "a b"
        > -x 7 withdraw | -x 11 withdraw | run_suspended r-6 r-10
        # r-6 | r-10
        # 7 held -> human delete {"path":"é"} within 600000 ms
        | 11 held -> human delete {"path":"b"} within 600000 ms
        > run_resumed | approval_resolved r-10 approved | tool_call_started delete(3){"path":"b"}
        | -> human delete {"path":"é"} within 600000 ms | -> delete(3){"path":"b"}
        > tool_result delete(3) "gone"
        > -x 7 withdraw | approval_resolved r-6 approved | tool_call_started delete(1){"path":"é"}
        | -> delete(1){"path":"é"}
        > tool_result delete(1) "gone too" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant delete(1){"path":"é"} list(2) delete(3){"path":"b"}
        | tool result(1) "gone too" | tool result(2) "a b" | tool result(3) "gone"
        | assistant "done"
        "#,
    );
}

#[test]
fn s05_a_suspended_run_asks_again_when_nobody_decided() {
    check(
        r#"
        tool a
        policy ask a
        start
        model a(1)
        suspend
        store
        resume
        answer 1 approves
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 600000 ms
        > -x 5 withdraw | run_suspended r-4
        > run_resumed | -> human a {} within 600000 ms
        > approval_resolved r-4 approved | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s05_a_question_that_lapses_while_suspended_is_denied_on_resumption() {
    check(
        r#"
        tool a
        policy ask a
        lifetime 100
        start
        model a(1)
        suspend
        at 100
        approve 1
        resume
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 100 ms
        > -x 5 withdraw | run_suspended r-4
        > !! approval r-4 lapsed; the call does not run unless it is asked again
        > run_resumed | approval_resolved r-4 approval_timeout
        | tool_result a(1) !approval_timeout | cycle_started after 3 messages
        | -> model 3 messages
        # tool result(1) "{\"ok\":false,\"error\":\"nobody decided in time\",\"error_code\":\"approval_timeout\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) !approval_timeout | assistant "done"
        "#,
    );
    check(
        r#"
        tool a
        policy ask a
        lifetime 100
        start
        model a(1)
        suspend
        at 99
        approve 1
        at 200
        resume
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 100 ms
        > -x 5 withdraw | run_suspended r-4
        > run_resumed | approval_resolved r-4 approved | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s05_a_live_question_lapses_too() {
    check(
        r#"
        tool a parallel
        policy ask a
        lifetime 100
        wait 5000
        start
        model a(1) a(2)
        at 100
        approve 1
        answer 1 approves
        answer 2 denies "no"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_planned a(2)
        | approval_requested r-5 a {} | -> human a {} within 100 ms | approval_requested r-7 a {}
        | -> human a {} within 100 ms
        > !! approval r-5 lapsed; the call does not run unless it is asked again
        > approval_resolved r-5 approval_timeout | tool_result a(1) !approval_timeout
        > approval_resolved r-7 approval_timeout | tool_result a(2) !approval_timeout
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) !approval_timeout
        | tool result(2) !approval_timeout | assistant "done"
        "#,
    );
}

#[test]
fn s05_the_wait_ends_with_the_question() {
    check(
        r#"
        tool a
        policy ask a
        lifetime 100
        wait 60
        start
        model a(1)
        suspend
        at 70
        resume
        answer 1 lapses
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 60 ms
        > -x 5 withdraw | run_suspended r-4
        > run_resumed | -> human a {} within 30 ms
        > approval_resolved r-4 approval_timeout | tool_result a(1) !approval_timeout
        | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) !approval_timeout | assistant "done"
        "#,
    );
}

#[test]
fn s05_allowed_for_the_run_covers_the_tool_until_the_run_ends() {
    check(
        r#"
        tool a
        tool b
        policy ask effects
        start
        model a(1) b(2) a(3)
        approve 1 forever
        1 "one"
        deny 2
        3 "three"
        store
        model a(4)
        4 "four"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) b(2) a(3) | tool_call_planned a(1)
        | approval_requested r-4 a {} | -> human a {} within 600000 ms
        > -x 5 withdraw | approval_resolved r-4 approved | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | tool_call_planned b(2) | approval_requested r-9 b {}
        | -> human b {} within 600000 ms
        > -x 10 withdraw | approval_resolved r-9 approval_denied
        | tool_result b(2) !approval_denied | tool_call_planned a(3) | tool_call_started a(3)
        | -> a(3)
        > tool_result a(3) "three" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" a(4) | tool_call_planned a(4) | tool_call_started a(4) | -> a(4)
        > tool_result a(4) "four" | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) b(2) a(3) | tool result(1) "one"
        | tool result(2) !approval_denied | tool result(3) "three" | assistant a(4)
        | tool result(4) "four" | assistant "done"
        "#,
    );
}

#[test]
fn s05_what_was_asked_before_waits_for_its_own_decision() {
    check(
        r#"
        tool a parallel
        policy ask a
        start
        model a(1) a(2)
        approve 1 forever
        1 "one"
        answer 2 denies "not that one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_planned a(2)
        | approval_requested r-5 a {} | -> human a {} within 600000 ms
        | approval_requested r-7 a {} | -> human a {} within 600000 ms
        > -x 6 withdraw | approval_resolved r-5 approved | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one"
        > approval_resolved r-7 approval_denied | tool_result a(2) !approval_denied
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one" | tool result(2) !approval_denied
        | assistant "done"
        "#,
    );
}

#[test]
fn s05_a_decision_during_a_suspension_that_settles_takes_effect_on_resumption() {
    check(
        r#"
        tool p parallel
        tool a parallel
        policy ask a
        start
        model p(1) a(2)
        suspend
        approve 2
        1 "one"
        store
        resume
        2 "two"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" p(1) a(2) | tool_call_planned p(1) | tool_call_planned a(2)
        | tool_call_started p(1) | -> p(1) | approval_requested r-7 a {}
        | -> human a {} within 600000 ms
        > -x 6 settle
        > -x 8 withdraw | approval_resolved r-7 approved
        > tool_result p(1) "one" | run_suspended
        > run_resumed | tool_call_started a(2) | -> a(2)
        > tool_result a(2) "two" | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant p(1) a(2) | tool result(1) "one" | tool result(2) "two"
        | assistant "done"
        "#,
    );
}

#[test]
fn s05_an_approval_is_bound_to_call_arguments_tool_version_and_workspace() {
    use std::collections::BTreeSet;

    let mut digests = BTreeSet::new();
    let scripts = [
        "tool a\npolicy ask a\nstart\nmodel a(1){\"x\":1,\"y\":2}",
        "tool a\npolicy ask a\nstart\nmodel a(1){\"x\":1,\"y\":3}",
        "tool a\npolicy ask a\nstart\nmodel a(2){\"x\":1,\"y\":2}",
        "tool a version=2\npolicy ask a\nstart\nmodel a(1){\"x\":1,\"y\":2}",
        "tool b\npolicy ask b\nstart\nmodel b(1){\"x\":1,\"y\":2}",
        "workspace w\ntool a\npolicy ask a\nstart\nmodel a(1){\"x\":1,\"y\":2}",
    ];
    for script in scripts {
        let question = question(script);
        assert!(digests.insert(question), "{script}");
    }
    let other_order = question("tool a\npolicy ask a\nstart\nmodel a(1){\"y\":2,\"x\":1}");
    assert!(digests.contains(&other_order), "the order of keys means nothing");
}

/// The digest of the one question that a script leaves open.
fn question(script: &str) -> String {
    use runtime_decision::Effect;

    let asked = crate::notation::machine(script).pending();
    let mut digests = asked.iter().filter_map(|pending| match &pending.effect {
        Effect::AwaitApproval(request) => Some(request.digest.to_string()),
        _ => None,
    });
    digests.next().expect("a question")
}
