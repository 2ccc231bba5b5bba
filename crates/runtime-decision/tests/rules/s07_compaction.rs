//! Decides whether a context that grows too large is made smaller, mildest means first (section 7).
//!
//! A window of 1,000 tokens leaves 766 for a request: above 612 it is compacted, down to 383.

use crate::notation::check;

#[test]
fn s07_old_results_that_come_again_become_notes() {
    check(
        r#"
        window 1000
        cycles 20
        tool read read
        start
        model read(1)
        1 long(450)
        model read(2)
        2 long(50)
        model read(3)
        3 long(50)
        model read(4)
        4 long(80)
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" read(1) | tool_call_planned read(1) | tool_call_started read(1)
        | -> read(1)
        > tool_result read(1) "long(450)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" read(2) | tool_call_planned read(2) | tool_call_started read(2)
        | -> read(2)
        > tool_result read(2) "long(50)" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" read(3) | tool_call_planned read(3) | tool_call_started read(3)
        | -> read(3)
        > tool_result read(3) "long(50)" | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "" read(4) | tool_call_planned read(4) | tool_call_started read(4)
        | -> read(4)
        > tool_result read(4) "long(80)" | cycle_started after 9 messages
        | memory_compact_started 9 messages 693 tokens of 766
        | memory_compact_completed 9 to 9 messages 265 tokens by micro | -> model 9 messages
        # user "go" | assistant read(1)
        | tool result(1) "[1800 bytes of read were left out here to save room; call it again if they are needed]"
        | assistant read(2) | tool result(2) "long(50)" | assistant read(3)
        | tool result(3) "long(50)" | assistant read(4) | tool result(4) "long(80)"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant read(1) | tool result(1) "long(450)" | assistant read(2)
        | tool result(2) "long(50)" | assistant read(3) | tool result(3) "long(50)"
        | assistant read(4) | tool result(4) "long(80)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_large_results_become_artifacts_when_a_tool_reads_them() {
    check(
        r#"
        window 20000
        tool pay
        tool look read
        context reader look
        start
        model pay(1)
        1 long(10000)
        model pay(2)
        2 long(4000)
        artifact
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(10000)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(4000)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 14043 tokens of 17244 | -> artifact of 40000 bytes
        > memory_compact_completed 5 to 5 messages 4224 tokens by offload | -> model 5 messages
        # user "go" | assistant pay(1)
        | tool result(1) "[40000 bytes; read the whole of it with look: artifact 6285332e3072b27e5b095c5c7d6e37eadd201220eb14694f9d2d0177c25a64ae]\nlong(65)\n[cut in the middle: the output had 40000 bytes; the rest is in the artifact]\nlong(65)"
        | assistant pay(2) | tool result(2) "long(4000)"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(10000)" | assistant pay(2)
        | tool result(2) "long(4000)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_an_artifact_that_was_not_kept_leaves_its_result() {
    check(
        r#"
        window 20000
        tool pay
        tool look read
        context reader look
        start
        model pay(1)
        1 long(10000)
        model pay(2)
        2 long(4000)
        artifact fails
        summary "both paid"
        show request
        model "done"
        show warnings
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(10000)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(4000)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 14043 tokens of 17244 | -> artifact of 40000 bytes
        > -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 4082 tokens by summary | -> model 4 messages
        # user "go" | user covers 3: "both paid\n\n[Where the run stood then: cycle 3 of 8.]"
        | assistant pay(2) | tool result(2) "long(4000)"
        > cycle_llm_response "done" | run_completed "done"
        # a result was not kept: SERVER_ERROR: it broke
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(10000)" | assistant pay(2)
        | tool result(2) "long(4000)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_run_that_does_not_advertise_the_reader_makes_no_artifacts() {
    check(
        r#"
        window 20000
        tool pay
        tool look read
        context reader look
        without look
        start
        model pay(1)
        1 long(10000)
        model pay(2)
        2 long(4000)
        summary "both paid"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages with [pay]
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(10000)" | cycle_started after 3 messages
        | -> model 3 messages with [pay]
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(4000)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 14037 tokens of 17244 | -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 4076 tokens by summary
        | -> model 4 messages with [pay]
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(10000)" | assistant pay(2)
        | tool result(2) "long(4000)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_message_of_the_user_that_does_not_fit_is_not_sent() {
    check(
        r#"
        window 1000
        cycles 20
        prompt long(2000)
        start
        show error
        "#,
        r#"
        > cycle_started after 1 messages | memory_compact_started 1 messages 2004 tokens of 766
        | run_failed context_too_large
        # context_too_large: the request has about 2004 tokens, 1238 more than fit, and could not be made smaller; shorten what was said, advertise fewer tools, or take a model with a larger window
        = failed context_too_large
        = user "long(2000)"
        "#,
    );
}

#[test]
fn s07_an_agent_that_never_compacts_does_not_send_what_does_not_fit() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        context never
        start
        model pay(1)
        1 long(2000)
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(2000)" | cycle_started after 3 messages
        | run_failed context_too_large
        = failed context_too_large
        = user "go" | assistant pay(1) | tool result(1) "long(2000)"
        "#,
    );
}

#[test]
fn s07_without_a_known_window_nothing_is_compacted() {
    check(
        r#"
        window 0
        cycles 20
        tool pay
        start
        model pay(1)
        1 long(90000)
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(90000)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(90000)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_what_a_provider_reported_counts_for_more_than_the_estimate() {
    check(
        r#"
        window 2000
        cycles 20
        tool pay
        start
        model pay(1) usage 100 3
        1 long(600)
        model pay(2) usage 1200 3
        2 long(20)
        summary "paid"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(600)" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(20)" | cycle_started after 5 messages
        | memory_compact_started 5 messages 1263 tokens of 1532 | -> summary of 2 messages
        > memory_compact_completed 5 to 4 messages 182 tokens by summary | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant pay(1) | tool result(1) "long(600)" | assistant pay(2)
        | tool result(2) "long(20)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_host_can_ask_for_a_compaction_before_the_first_request() {
    check(
        r#"
        window 100000
        said user "do it"
        said assistant long(300)
        said user "more"
        said assistant "yes"
        prompt "and now"
        compact first
        start
        summary "did it"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 5 messages | memory_compact_started 5 messages 326 tokens of 87244
        | -> summary of 2 messages
        > memory_compact_completed 5 to 5 messages 73 tokens by summary | -> model 5 messages
        # user "do it" | user "more"
        | user covers 3: "did it\n\n[Where the run stood then: cycle 1 of 8.]" | assistant "yes"
        | user "and now"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "do it" | assistant "long(300)" | user "more" | assistant "yes" | user "and now"
        | assistant "done"
        "#,
    );
}

#[test]
fn s07_edits_from_before_compaction_follow_their_messages() {
    check(
        r#"
        window 1000
        cycles 20
        tool pay
        hook h before_memory_compact
        hook k before_memory_compact
        instructions "be kind"
        start
        hook h nothing
        hook k nothing
        model pay(1)
        1 long(300)
        hook h nothing
        hook k nothing
        model pay(2)
        2 long(320)
        hook h inserts 1 "behind the system message"
        hook k inserts 99 "at the end"
        summary "paid"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 2 messages | -> hook h before compaction of 2 messages
        > -> hook k before compaction of 2 messages
        > -> model 2 messages
        > cycle_llm_response "" pay(1) | tool_call_planned pay(1) | tool_call_started pay(1)
        | -> pay(1)
        > tool_result pay(1) "long(300)" | cycle_started after 4 messages
        | -> hook h before compaction of 4 messages
        > -> hook k before compaction of 4 messages
        > -> model 4 messages
        > cycle_llm_response "" pay(2) | tool_call_planned pay(2) | tool_call_started pay(2)
        | -> pay(2)
        > tool_result pay(2) "long(320)" | cycle_started after 6 messages
        | -> hook h before compaction of 6 messages
        > -> hook k before compaction of 7 messages
        > memory_compact_started 6 messages 681 tokens of 766 | -> summary of 2 messages
        > memory_compact_completed 6 to 5 messages 419 tokens by summary | -> model 7 messages
        # system "be kind" | user "behind the system message" | user "go"
        | user covers 4: "paid\n\n[Where the run stood then: cycle 3 of 20.]" | assistant pay(2)
        | tool result(2) "long(320)" | user "at the end"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = system "be kind" | user "go" | assistant pay(1) | tool result(1) "long(300)"
        | assistant pay(2) | tool result(2) "long(320)" | assistant "done"
        "#,
    );
}

#[test]
fn s07_a_message_that_was_replaced_stays_replaced_wherever_it_moves() {
    check(
        r#"
        window 1000
        said user "first"
        said assistant "hm"
        said assistant long(300)
        said user "secret"
        said assistant long(300)
        prompt "and now"
        compact first
        hook h before_memory_compact
        hook k before_memory_compact
        hook n before_llm
        start
        hook h replaces 3 "[redacted]"
        hook k drops 1
        summary "did it"
        hook n inserts 99 "note"
        show request
        model overlong
        hook n inserts 99 "note"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 6 messages | -> hook h before compaction of 6 messages
        > -> hook k before compaction of 6 messages
        > memory_compact_started 6 messages 627 tokens of 766 | -> summary of 2 messages
        > memory_compact_completed 6 to 5 messages 374 tokens by summary
        | -> hook n before 5 messages and 0 tools
        > -> model 6 messages
        # user "first" | user "[redacted]"
        | user covers 4: "did it\n\n[Where the run stood then: cycle 1 of 8.]"
        | assistant "long(300)" | user "and now" | user "note"
        > memory_compact_started 5 messages 756 tokens of 766
        | memory_compact_completed 5 to 4 messages 141 tokens by trim
        | -> hook n before 4 messages and 0 tools
        > -> model 5 messages
        # user "first" | user "[redacted]" | user "and now"
        | user covers 6: "did it\n\n[Where the run stood then: cycle 1 of 8.]" | user "note"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "first" | assistant "hm" | assistant "long(300)" | user "secret"
        | assistant "long(300)" | user "and now" | assistant "done"
        "#,
    );
}
