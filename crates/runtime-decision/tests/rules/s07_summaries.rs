//! Decides what is asked of a summariser, what of its answer is taken, and what follows when none is
//! (section 7).
//!
//! Length: one script for each way in which a summary can go.
//!
//! A window of 1,000 tokens leaves 766 for a request: above 612 it is compacted, down to 383.

use crate::notation::check;

#[test]
fn s07_what_would_not_come_again_is_summed_up() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        instructions "be kind"
        start
        model pay(1)
        1 long(300)
        model "I paid." pay(2)
        steer "and the rest"
        2 long(330)
        show summary
        summary "paid 1"
        show request
        model "done"
        show usage
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "I paid." pay(2) | tool_call_planned pay(2)
        | tool_call_started pay(2) | -> pay(2)
        > tool_result pay(2) "long(330)" | session_steer_interrupt after 2 "and the rest"
        | run_steered after 2 prompts 1 steering 1 | cycle_started after 7 messages
        | memory_compact_started 7 messages 682 tokens of 766 | -> summary of 2 messages
        # user "<messages>\n[application]\nbe kind\n\n[user]\ngo\n\n[assistant calls pay]\n{}\n\n[result of pay]\nlong(300)\n\n</messages>\n\nWrite the summary now."
        > memory_compact_completed 7 to 6 messages 420 tokens by summary | -> model 6 messages
        # system "be kind" | user "go"
        | user covers 4: "paid 1\n\n[Where the run stood then: cycle 3 of 20.]"
        | assistant "I paid." pay(2) | tool result(2) "long(330)" | user "and the rest"
        > cycle_llm_response "done" | run_completed "done"
        # 4 attempts, input None (0, false)
        = completed "done"
        = system "be kind" | user "go" | assistant pay(1) | tool result(1) "long(300)"
        | assistant "I paid." pay(2) | tool result(2) "long(330)" | user "and the rest"
        | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_summary_that_is_none_is_not_taken_and_everything_stays() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        summary ""
        show request
        model "done"
        show warnings
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        > -> model 5 messages
        # user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)"
        > cycle_llm_response "done" | run_completed "done"
        # a summary was not taken: it was empty or not complete
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_summary_that_is_larger_is_not_taken() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        summary long(900)
        show request
        model "done"
        show warnings
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        > -> model 5 messages
        # user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)"
        > cycle_llm_response "done" | run_completed "done"
        # a summary was not taken: it did not make the request fit
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_summariser_that_calls_tools_is_heard_for_its_words_alone() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        summary "paid twice" pay(3)
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 396 tokens by summary | -> model 4 messages
        # user "go" | user covers 3: "paid twice\n\n[Where the run stood then: cycle 3 of 20.]"
        | assistant pay(2) | tool result(2) "long(320)"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_summariser_that_finds_its_request_too_long_gets_half_of_it_twice() {
    check(
        r#"
        window 3000
        tool pay
        start
        model pay(1)
        1 long(1200)
        model pay(2)
        2 long(1000)
        summary overlong
        summary overlong
        summary overlong
        model "done"
        show warnings
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(1200)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(1000)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 2237 tokens of 2369 | -> summary of 2 messages
        > -> summary of 2 messages
        > -> summary of 2 messages
        > -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        # no summary was made: TOO_LONG: the prompt is too long
        # 3 attempts, input None (0, false)
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(1200)" | assistant pay(2)
        | tool result(2) "long(1000)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_compaction_that_did_not_get_far_rests_until_the_context_has_grown() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        summary fails
        model pay(3)
        3 "a"
        model pay(4)
        4 long(60)
        summary "all paid"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        > -> model 5 messages
        > cycle_llm_response "" pay(3) | tool_call_planned pay(3) | tool_call_started pay(3)
        | -> pay(3)
        > tool_result pay(3) "a" | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "" pay(4) | tool_call_planned pay(4) | tool_call_started pay(4)
        | -> pay(4)
        > tool_result pay(4) "long(60)" | cycle_started after 9 messages
        | memory_compact_started 9 messages 744 tokens of 766 | -> summary of 2 messages
        > memory_compact_completed 9 to 6 messages 150 tokens by summary | -> model 6 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)" | assistant pay(3) | tool result(3) "a" | assistant pay(4)
        | tool result(4) "long(60)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_second_summary_holds_the_first() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        summary "the first summary"
        model pay(3)
        3 long(300)
        show summary
        summary "both"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 398 tokens by summary | -> model 4 messages
        > cycle_llm_response "" pay(3) | tool_call_planned pay(3) | tool_call_started pay(3)
        | -> pay(3)
        > tool_result pay(3) "long(300)" | cycle_started after 7 messages
        | memory_compact_started 6 messages 711 tokens of 766 | -> summary of 2 messages
        # user "<earlier_summary>\nthe first summary\n</earlier_summary>\n\n<messages>\n[assistant calls pay]\n{}\n\n[result of pay]\nlong(320)\n\n</messages>\n\nWrite the summary now."
        > memory_compact_completed 6 to 4 messages 375 tokens by summary | -> model 4 messages
        # user "go" | user covers 5: "both\n\n[Where the run stood then: cycle 4 of 20.]"
        | assistant pay(3) | tool result(3) "long(300)"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)" | assistant pay(3) | tool result(3) "long(300)"
        | assistant "done"
        "#,
    );
}

#[test]
fn s07_the_todo_list_is_carried_by_the_engine() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        state {"todo":["pay the rest","say so"]}
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        summary "paid"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1) state {"todo":["pay the rest","say so"]}
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2) state {"todo":["pay the rest","say so"]}
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 408 tokens by summary | -> model 4 messages
        # user "go"
        | user covers 3: "paid\n\n[Where the run stood then: cycle 3 of 20.]\n[What is to be done:]\n[\n  \"pay the rest\",\n  \"say so\"\n]"
        | assistant pay(2) | tool result(2) "long(320)"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)" | assistant "done"
        = state {"todo":["pay the rest","say so"]}
        "#,
    );
}

#[test]
fn s07_a_giant_result_is_summed_up_when_nothing_else_helps() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(5000)
        summary "it was long"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(5000)" | cycle_started after 3 messages
        | memory_compact_started 3 messages 5024 tokens of 766 | -> summary of 2 messages
        > memory_compact_completed 3 to 2 messages 63 tokens by summary | -> model 2 messages
        # user "go" | user covers 3: "it was long\n\n[Where the run stood then: cycle 2 of 20.]"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(5000)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_compaction_is_suspended_stored_and_goes_on() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        suspend
        summary halted
        store
        resume
        store
        summary "paid"
        store
        show request
        model "done"
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        > -x 10 settle
        > run_suspended
        > run_resumed | -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 395 tokens by summary | -> model 4 messages
        # user "go" | user covers 3: "paid\n\n[Where the run stood then: cycle 3 of 20.]"
        | assistant pay(2) | tool result(2) "long(320)"
        > cycle_llm_response "done" | run_completed "done"
        # 5 attempts, input None (0, false)
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_summary_that_was_lost_is_asked_for_under_another_name() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        crash
        show pending
        resume
        show pending
        summary "paid"
        model "done"
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        # 10 in flight -> summary of 2 messages
        > run_resumed | -> summary of 2 messages
        # 11 in flight -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 395 tokens by summary | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        # 5 attempts, input None (0, false)
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_compaction_is_cancelled_and_what_the_summary_used_is_kept() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(300)
        model pay(2)
        2 long(320)
        cancel
        summary "paid" usage 7 7
        show usage
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 657 tokens of 766 | -> summary of 2 messages
        > -x 10 interrupt
        > run_cancelled
        # 3 attempts, input None (7, false)
        = cancelled
        = user "go" | assistant pay(1) | tool result(1) "long(300)" | assistant pay(2)
        | tool result(2) "long(320)"
        "#,
    );
}

#[test]
fn complaint_01_a_history_that_was_interrupted_is_compacted_whole() {
    check(
        r#"
        window 100000
        said user "do it"
        said assistant a(1) a(2) a(3) a(4)
        said tool result(1)long(300)
        prompt "continue"
        compact first
        start
        show summary
        summary "it was interrupted"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 7 messages | memory_compact_started 7 messages 499 tokens of 87244
        | -> summary of 2 messages
        # user "<messages>\n[user]\ndo it\n\n[assistant calls a]\n{}\n\n[assistant calls a]\n{}\n\n[assistant calls a]\n{}\n\n[assistant calls a]\n{}\n\n[result of old]\nlong(300)\n\n[failure of a]\n{\"ok\":false,\"error\":\"the run was interrupted before the result of this call was kept; it may have run, verify its effect before you repeat it\",\"error_code\":\"tool_outcome_unknown\",\"tool_name\":\"a\"}\n\n[failure of a]\n{\"ok\":false,\"error\":\"the run was interrupted before the result of this call was kept; it may have run, verify its effect before you repeat it\",\"error_code\":\"tool_outcome_unknown\",\"tool_name\":\"a\"}\n\n[failure of a]\n{\"ok\":false,\"error\":\"the run was interrupted before the result of this call was kept; it may have run, verify its effect before you repeat it\",\"error_code\":\"tool_outcome_unknown\",\"tool_name\":\"a\"}\n\n[user]\ncontinue\n\n</messages>\n\nWrite the summary now."
        > memory_compact_completed 7 to 3 messages 66 tokens by summary | -> model 3 messages
        # user "do it" | user "continue"
        | user covers 7: "it was interrupted\n\n[Where the run stood then: cycle 1 of 8.]"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "do it" | assistant a(1) a(2) a(3) a(4) | tool result(1) "long(300)"
        | tool result(2) !tool_outcome_unknown | tool result(3) !tool_outcome_unknown
        | tool result(4) !tool_outcome_unknown | user "continue" | assistant "done"
        "#,
    );
}
