//! Decides what follows when a provider says that a prompt is too long (sections 7 and 12).

use crate::notation::check;

const LONG: &str = r#"
    window 0
    cycles 20
    tool pay
    tool read read
    start
    model read(1)
    1 long(2000)
    model pay(2)
    2 long(2000)
    model pay(3)
    3 long(1000)
    model pay(4)
    4 long(1000)
"#;

#[test]
fn s12_overlong_twice_and_then_fine_are_three_requests_each_smaller() {
    check(
        &format!(
            r#"{LONG}
            model overlong
            summary "paid 2"
            model overlong
            summary "paid 2 and 3"
            model "done"
            show tokens
            "#
        ),
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" read(1) | tool_call_planned read(1) | tool_call_started read(1)
        | -> read(1)
        > tool_result read(1) "long(2000)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(2000)" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" pay(3) | tool_call_planned pay(3) | tool_call_started pay(3)
        | -> pay(3)
        > tool_result pay(3) "long(1000)" | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "" pay(4) | tool_call_planned pay(4) | tool_call_started pay(4)
        | -> pay(4)
        > tool_result pay(4) "long(1000)" | cycle_started after 9 messages | -> model 9 messages
        > memory_compact_started 9 messages 6069 tokens | -> summary of 2 messages
        > memory_compact_completed 9 to 6 messages 2094 tokens by micro summary
        | -> model 6 messages
        > memory_compact_started 6 messages 2094 tokens | -> summary of 2 messages
        > memory_compact_completed 6 to 4 messages 1083 tokens by summary | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        # 5 | 2018 | 4031 | 5044 | 6057 | 2082 | 1071
        = completed "done"
        = user "go" | assistant read(1) | tool result(1) "long(2000)" | assistant pay(2)
        | tool result(2) "long(2000)" | assistant pay(3) | tool result(3) "long(1000)"
        | assistant pay(4) | tool result(4) "long(1000)" | assistant "done"
        "#,
    );
}

#[test]
fn s12_overlong_for_ever_are_four_requests() {
    check(
        &format!(
            r#"{LONG}
            model overlong
            summary fails
            model overlong
            summary fails
            model overlong
            summary fails
            model overlong
            show tokens
            show error
            show usage
            "#
        ),
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" read(1) | tool_call_planned read(1) | tool_call_started read(1)
        | -> read(1)
        > tool_result read(1) "long(2000)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(2000)" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" pay(3) | tool_call_planned pay(3) | tool_call_started pay(3)
        | -> pay(3)
        > tool_result pay(3) "long(1000)" | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "" pay(4) | tool_call_planned pay(4) | tool_call_started pay(4)
        | -> pay(4)
        > tool_result pay(4) "long(1000)" | cycle_started after 9 messages | -> model 9 messages
        > memory_compact_started 9 messages 6069 tokens | -> summary of 2 messages
        > memory_compact_completed 9 to 9 messages 4091 tokens by micro | -> model 9 messages
        > memory_compact_started 9 messages 4091 tokens | -> summary of 2 messages
        > memory_compact_completed 9 to 4 messages 1081 tokens by trim | -> model 4 messages
        > memory_compact_started 4 messages 1081 tokens | -> summary of 2 messages
        > memory_compact_completed 4 to 4 messages 514 tokens by trim | -> model 4 messages
        > run_failed compaction_exhausted
        # 5 | 2018 | 4031 | 5044 | 6057 | 4079 | 1069 | 502
        # compaction_exhausted: the prompt stayed too long for the model (attempts: 4); make the task smaller, or take a model with a larger window
        # 7 attempts, input None (0, false)
        = failed compaction_exhausted
        = user "go" | assistant read(1) | tool result(1) "long(2000)" | assistant pay(2)
        | tool result(2) "long(2000)" | assistant pay(3) | tool result(3) "long(1000)"
        | assistant pay(4) | tool result(4) "long(1000)"
        "#,
    );
}

#[test]
fn s07_a_prompt_that_cannot_get_smaller_is_sent_once() {
    check(
        r#"
        window 0
        cycles 20
        start
        model overlong
        show error
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > memory_compact_started 1 messages 5 tokens | run_failed compaction_exhausted
        # compaction_exhausted: the prompt stayed too long for the model (attempts: 1); make the task smaller, or take a model with a larger window
        = failed compaction_exhausted
        = user "go"
        "#,
    );
}

#[test]
fn s07_hooks_before_the_model_run_again_for_each_retry() {
    check(
        r#"
        window 0
        cycles 20
        hook h before_llm
        hook c before_memory_compact
        said assistant long(900)
        start
        hook c inserts 0 "first"
        hook h inserts 99 "last"
        model overlong
        summary "it was long"
        hook h inserts 99 "last again"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 2 messages | -> hook c before compaction of 2 messages
        > -> hook h before 3 messages and 0 tools
        > -> model 4 messages
        > memory_compact_started 2 messages 915 tokens | -> summary of 2 messages
        > memory_compact_completed 2 to 2 messages 63 tokens by summary
        | -> hook h before 3 messages and 0 tools
        > -> model 4 messages
        # user "first" | user "go"
        | user covers 2: "it was long\n\n[Where the run stood then: cycle 1 of 20.]"
        | user "last again"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = assistant "long(900)" | user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_hook_that_puts_back_what_was_left_out_ends_the_retries() {
    check(
        r#"
        window 0
        cycles 20
        hook h before_llm
        said assistant long(900)
        start
        hook h nothing
        model overlong
        summary "it was long"
        hook h inserts 0 long(900)
        show error
        "#,
        r#"
        > cycle_started after 2 messages | -> hook h before 2 messages and 0 tools
        > -> model 2 messages
        > memory_compact_started 2 messages 909 tokens | -> summary of 2 messages
        > memory_compact_completed 2 to 2 messages 57 tokens by summary
        | -> hook h before 2 messages and 0 tools
        > run_failed compaction_exhausted
        # compaction_exhausted: the prompt stayed too long for the model (attempts: 1); make the task smaller, or take a model with a larger window
        = failed compaction_exhausted
        = assistant "long(900)" | user "go"
        "#,
    );
}

#[test]
fn s07_an_overlong_answer_counts_against_the_estimate_from_then_on() {
    check(
        r#"
        window 4000
        tool pay
        start
        model pay(1)
        1 long(1000)
        model pay(2)
        2 long(1000)
        model overlong
        summary "paid"
        model pay(3)
        3 long(900)
        summary "paid more"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(1000)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(1000)" | cycle_started after 5 messages | -> model 5 messages
        > memory_compact_started 5 messages 3245 tokens of 3244 | -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 1710 tokens by summary | -> model 4 messages
        > cycle_llm_response "" pay(3) | tool_call_planned pay(3) | tool_call_started pay(3)
        | -> pay(3)
        > tool_result pay(3) "long(900)" | cycle_started after 7 messages
        | memory_compact_started 6 messages 3165 tokens of 3244 | -> summary of 2 messages
        > memory_compact_completed 6 to 4 messages 1554 tokens by summary | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(1000)" | assistant pay(2)
        | tool result(2) "long(1000)" | assistant pay(3) | tool result(3) "long(900)"
        | assistant "done"
        "#,
    );
}

#[test]
fn complaint_15_a_throttle_that_mentions_tokens_is_no_overlong_prompt() {
    check(
        r#"
        window 100000
        said assistant long(900)
        start
        model throttled
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > run_failed model_failed
        = failed model_failed
        = assistant "long(900)" | user "go"
        "#,
    );
}

#[test]
fn s07_a_retry_is_suspended_stored_and_goes_on() {
    check(
        r#"
        window 0
        cycles 20
        said assistant long(900)
        start
        suspend
        model overlong
        store
        resume
        summary "it was long"
        store
        model "done"
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > -x 2 settle
        > memory_compact_started 2 messages 909 tokens | run_suspended
        > run_resumed | -> summary of 2 messages
        > memory_compact_completed 2 to 2 messages 57 tokens by summary | -> model 2 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = assistant "long(900)" | user "go" | assistant "done"
        "#,
    );
}
