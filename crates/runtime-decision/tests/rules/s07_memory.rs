//! Decides what memory providers are asked and told, and what their errors cost (section 7).

use crate::notation::check;

#[test]
fn s07_what_is_recalled_shapes_the_requests_of_a_cycle_alone() {
    check(
        r#"
        window 100000
        instructions "be kind"
        memory a recalls
        memory b recalls
        tool pay
        start
        memory "from a"
        memory "from b"
        show request
        model pay(1)
        1 "ok"
        memory none
        memory "from b again"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 2 messages | -> memory 0 Recall
        > -> memory 1 Recall
        > -> model 4 messages
        # system "be kind" | user "from a" | user "from b" | user "go"
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "ok" | cycle_started after 4 messages | -> memory 0 Recall
        > -> memory 1 Recall
        > -> model 5 messages
        # system "be kind" | user "from b again" | user "go" | assistant pay(1)
        | tool result(1) "ok"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = system "be kind" | user "go" | assistant pay(1) | tool result(1) "ok" | assistant "done"
        "#,
    );
}

#[test]
fn s07_memory_is_told_before_and_after_a_compaction() {
    check(
        r#"
        window 1000
        cycles 20
        memory a observes
        memory b recalls
        memory c recalls observes
        tool pay
        start
        memory none
        memory none
        model pay(1)
        1 long(900)
        memory none
        memory "from c"
        memory none
        memory none
        summary "paid"
        memory none
        memory none
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> memory 1 Recall
        > -> memory 2 Recall
        > -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(900)" | cycle_started after 3 messages | -> memory 1 Recall
        > -> memory 2 Recall
        > memory_compact_started 3 messages 930 tokens of 766 | -> memory 0 BeforeCompact
        > -> memory 2 BeforeCompact
        > -> summary of 2 messages
        > memory_compact_completed 3 to 2 messages 68 tokens by summary | -> memory 0 AfterCompact
        > -> memory 2 AfterCompact
        > -> model 3 messages
        # user "from c" | user "go"
        | user covers 3: "paid\n\n[Where the run stood then: cycle 2 of 20.]"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(900)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_after_a_compaction_that_changed_nothing_nobody_is_told() {
    check(
        r#"
        window 1000
        cycles 20
        memory a observes
        tool pay
        start
        model pay(1)
        1 long(650)
        memory none
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(650)" | cycle_started after 3 messages
        | memory_compact_started 3 messages 674 tokens of 766 | -> memory 0 BeforeCompact
        > -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(650)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_memory_that_fails_costs_a_warning() {
    check(
        r#"
        window 1000
        cycles 20
        memory a recalls observes
        tool pay
        start
        memory fail
        model pay(1)
        1 long(900)
        memory fail
        memory fail
        summary "paid"
        memory fail
        model "done"
        show warnings
        "#,
        r#"
        > cycle_started after 1 messages | -> memory 0 Recall
        > -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(900)" | cycle_started after 3 messages | -> memory 0 Recall
        > memory_compact_started 3 messages 924 tokens of 766 | -> memory 0 BeforeCompact
        > -> summary of 2 messages
        > memory_compact_completed 3 to 2 messages 62 tokens by summary | -> memory 0 AfterCompact
        > -> model 2 messages
        > cycle_llm_response "done" | run_completed "done"
        # memory a failed: it broke | memory a failed: it broke | memory a failed: it broke
        | memory a failed: it broke
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(900)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_memory_that_was_stopped_is_asked_again() {
    check(
        r#"
        window 100000
        memory a recalls
        start
        suspend
        memory halted
        store
        resume
        memory "back"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> memory 0 Recall
        > -x 2 settle
        > run_suspended
        > run_resumed | -> memory 0 Recall
        > -> model 2 messages
        # user "back" | user "go"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s07_recalled_messages_stay_for_a_retry() {
    check(
        r#"
        window 0
        cycles 20
        memory a recalls
        said assistant long(900)
        start
        memory "remember"
        model overlong
        summary "it was long"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 2 messages | -> memory 0 Recall
        > -> model 3 messages
        > memory_compact_started 2 messages 915 tokens | -> summary of 2 messages
        > memory_compact_completed 2 to 2 messages 63 tokens by summary | -> model 3 messages
        # user "remember" | user "go"
        | user covers 2: "it was long\n\n[Where the run stood then: cycle 1 of 20.]"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = assistant "long(900)" | user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s07_memory_is_asked_again_after_a_crash() {
    check(
        r#"
        window 100000
        memory a recalls
        start
        crash
        resume
        memory "back"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> memory 0 Recall
        > run_resumed | -> memory 0 Recall
        > -> model 2 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}
