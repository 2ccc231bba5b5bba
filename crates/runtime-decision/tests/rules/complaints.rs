//! Decides whether what users of such loops complain about can happen here: by number, as on the
//! page of complaints.

use crate::notation::check;

#[test]
fn complaint_01_an_interrupted_tool_call_does_not_brick_the_session() {
    check(
        r#"
        said user "do it"
        said assistant a(1) a(2) a(3) a(4)
        said tool result(1)"one"
        prompt "continue"
        start
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 7 messages | -> model 7 messages
        # user "do it" | assistant a(1) a(2) a(3) a(4) | tool result(1) "one"
        | tool result(2) !tool_outcome_unknown | tool result(3) !tool_outcome_unknown
        | tool result(4) !tool_outcome_unknown | user "continue"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "do it" | assistant a(1) a(2) a(3) a(4) | tool result(1) "one"
        | tool result(2) !tool_outcome_unknown | tool result(3) !tool_outcome_unknown
        | tool result(4) !tool_outcome_unknown | user "continue" | assistant "done"
        "#,
    );
}

#[test]
fn complaint_02_a_call_in_flight_stays_and_says_that_its_effect_is_unknown() {
    check(
        r#"
        tool write_file write
        start
        model write_file(1){"path":"a"}
        crash
        resume
        show results
        model "I will look first"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" write_file(1){"path":"a"}
        | tool_call_planned write_file(1){"path":"a"}
        | tool_call_started write_file(1){"path":"a"} | -> write_file(1){"path":"a"}
        > run_resumed | tool_result write_file(1) !tool_outcome_unknown
        | cycle_started after 3 messages | -> model 3 messages
        # tool result(1) "{\"ok\":false,\"error\":\"the run was interrupted while the tool was at work; it may have taken effect, verify before you repeat it\",\"error_code\":\"tool_outcome_unknown\",\"tool_name\":\"write_file\"}"
        > cycle_llm_response "I will look first" | run_completed "I will look first"
        = completed "I will look first"
        = user "go" | assistant write_file(1){"path":"a"} | tool result(1) !tool_outcome_unknown
        | assistant "I will look first"
        "#,
    );
}

#[test]
fn complaint_03_a_pause_for_an_approval_keeps_the_result_beside_it() {
    check(
        r#"
        tool delete parallel
        tool list parallel read
        policy ask delete
        start
        model delete(1) list(2)
        2 "a b"
        suspend
        store
        approve 1
        store
        resume
        1 "gone"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" delete(1) list(2) | tool_call_planned delete(1)
        | tool_call_planned list(2) | approval_requested r-5 delete {}
        | -> human delete {} within 600000 ms | tool_call_started list(2) | -> list(2)
        > tool_result list(2) "a b"
        > -x 6 withdraw | run_suspended r-5
        > run_resumed | approval_resolved r-5 approved | tool_call_started delete(1)
        | -> delete(1)
        > tool_result delete(1) "gone" | cycle_started after 4 messages | -> model 4 messages
        # user "go" | assistant delete(1) list(2) | tool result(1) "gone" | tool result(2) "a b"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant delete(1) list(2) | tool result(1) "gone" | tool result(2) "a b"
        | assistant "done"
        "#,
    );
}

#[test]
fn complaint_04_the_second_request_is_the_first_and_what_is_new() {
    use runtime_decision::Effect;

    let script = "tool a\nstart\nmodel \"text\" a(1)\n1 \"one\"";
    let pending = crate::notation::machine(script).pending();
    let Effect::CallModel(second) = &pending[0].effect else { panic!("{pending:?}") };
    let pending = crate::notation::machine("tool a\nstart").pending();
    let Effect::CallModel(first) = &pending[0].effect else { panic!("{pending:?}") };
    assert_eq!(second.messages.prefix(first.messages.len()), first.messages);
    assert_eq!(second.messages.len(), first.messages.len() + 2);
    assert_eq!(second.tools.digest(), first.tools.digest());
}

#[test]
fn complaint_05_resuming_sends_each_message_once() {
    check(
        r#"
        tool a
        policy ask a
        start
        model "hm" a(1)
        suspend
        store
        approve 1
        resume
        1 "one"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "hm" a(1) | tool_call_planned a(1) | approval_requested r-4 a {}
        | -> human a {} within 600000 ms
        > -x 5 withdraw | run_suspended r-4
        > run_resumed | approval_resolved r-4 approved | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        # user "go" | assistant "hm" a(1) | tool result(1) "one"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "hm" a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn complaint_11_nothing_runs_from_an_answer_that_was_cut() {
    check(
        r#"
        tool a
        start
        model cut "so" a(1){"path":"/"}
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "so" a(1){"path":"/"}
        | tool_result a(1) !skipped_due_to_incomplete_answer | run_failed model_output_limit
        = failed model_output_limit
        = user "go" | assistant "so" a(1){"path":"/"}
        | tool result(1) !skipped_due_to_incomplete_answer
        "#,
    );
}

#[test]
fn complaint_12_no_arguments_are_an_empty_object_and_nothing_else_is() {
    check(
        r#"
        tool a parallel
        start
        model a(1)="" a(2)=null a(3)=5 a(4)="\"x\"" a(5)=[]
        1 "one"
        2 "two"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1)="" a(2)=null a(3)=5 a(4)="\"x\"" a(5)=[]
        | tool_call_planned a(1)="" | tool_call_planned a(2)=null | tool_call_planned a(3)=5
        | tool_result a(3) !invalid_arguments_payload | tool_call_planned a(4)="\"x\""
        | tool_result a(4) !invalid_arguments_payload | tool_call_planned a(5)=[]
        | tool_result a(5) !invalid_arguments_payload | tool_call_started a(1) | -> a(1)
        | tool_call_started a(2) | -> a(2)
        > tool_result a(1) "one"
        > tool_result a(2) "two" | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1)="" a(2)=null a(3)=5 a(4)="\"x\"" a(5)=[]
        | tool result(1) "one" | tool result(2) "two" | tool result(3) !invalid_arguments_payload
        | tool result(4) !invalid_arguments_payload | tool result(5) !invalid_arguments_payload
        | assistant "done"
        "#,
    );
}

#[test]
fn complaint_16_a_tool_whose_reply_was_lost_is_not_run_again() {
    check(
        r#"
        tool count
        start
        model count(1)
        1 lost
        show results
        model "I will look first"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" count(1) | tool_call_planned count(1) | tool_call_started count(1)
        | -> count(1)
        > tool_result count(1) !tool_timeout | cycle_started after 3 messages
        | -> model 3 messages
        # tool result(1) "{\"ok\":false,\"error\":\"the tool ran out of time; it may have taken effect, verify before you repeat it\",\"error_code\":\"tool_timeout\",\"tool_name\":\"count\"}"
        > cycle_llm_response "I will look first" | run_completed "I will look first"
        = completed "I will look first"
        = user "go" | assistant count(1) | tool result(1) !tool_timeout
        | assistant "I will look first"
        "#,
    );
}

#[test]
fn complaint_18_and_20_what_was_not_reported_is_unknown_and_a_zero_is_one() {
    check(
        r#"
        tool a
        start
        model a(1) usage 10 2
        1 "one"
        model "done" usage 0 0
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        # 2 attempts, input Some(10) (10, true)
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
    check(
        r#"
        tool a
        start
        model a(1) usage 10 2
        1 "one"
        model "done"
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        # 2 attempts, input None (10, false)
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}
