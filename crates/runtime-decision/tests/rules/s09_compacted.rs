//! Section 9: children that end while the context of their parent is compacted.

use crate::notation::check;

#[test]
fn s09_a_child_that_ends_while_its_parent_compacts_is_told_once() {
    check(
        r#"
        cycles 20
        sub_agent reader "reads"
        window 20000
        tool a
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model a(2)
        2 long(5000)
        model a(3)
        3 long(5000)
        model a(4)
        4 long(5000)
        child task-1 "A"
        summary "What was found."
        model a(5)
        5 "x"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > cycle_llm_response "" a(2) | tool_call_planned a(2) | tool_call_started a(2) | -> a(2)
        > tool_result a(2) "long(5000)" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" a(3) | tool_call_planned a(3) | tool_call_started a(3) | -> a(3)
        > tool_result a(3) "long(5000)" | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "" a(4) | tool_call_planned a(4) | tool_call_started a(4) | -> a(4)
        > tool_result a(4) "long(5000)" | cycle_started after 9 messages
        | memory_compact_started 9 messages 15803 tokens of 17244 | -> summary of 2 messages
        > sub_run_completed r-5 Completed "A"
        > memory_compact_completed 9 to 4 messages 5793 tokens by summary | -> model 4 messages
        > cycle_llm_response "" a(5) | tool_call_planned a(5) | tool_call_started a(5) | -> a(5)
        > tool_result a(5) "x" | cycle_injected_messages sub_tasks 1
        | cycle_started after 12 messages | -> model 7 messages
        # user "go"
        | user covers 7: "What was found.\n\n[Where the run stood then: cycle 5 of 20.]\n[Sub-tasks:]\n- task-1 (reader), completed, not told yet: a"
        | assistant a(4) | tool result(4) "long(5000)" | assistant a(5) | tool result(5) "x"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant a(2) | tool result(2) "long(5000)" | assistant a(3)
        | tool result(3) "long(5000)" | assistant a(4) | tool result(4) "long(5000)"
        | assistant a(5) | tool result(5) "x"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "done"
        "#,
    );
}
