//! Section 9: children in the background.
//!
//! Length: each script stands beside all that comes of it.

use crate::notation::check;

#[test]
fn s09_a_child_in_the_background_is_told_at_the_start_of_the_next_cycle() {
    check(
        r#"
        sub_agent reader "reads"
        tool a
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        show results
        model a(2)
        child task-1 "A"
        2 "x"
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
        # tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        > cycle_llm_response "" a(2) | tool_call_planned a(2) | tool_call_started a(2) | -> a(2)
        > sub_run_completed r-5 Completed "A"
        > tool_result a(2) "x" | cycle_injected_messages sub_tasks 1
        | cycle_started after 6 messages | -> model 6 messages
        # user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant a(2) | tool result(2) "x"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant a(2) | tool result(2) "x"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "done"
        "#,
    );
}

#[test]
fn s09_an_answer_without_calls_waits_for_children_at_work() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}],"background":true}
        model "I wait."
        child task-1 "A"
        child task-2 "B"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool_call_planned create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool_call_started create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | sub_run_started task-1 r-5 reader in the background
        | sub_run_started task-2 r-7 reader in the background
        | tool_result create_sub_task_batch(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a"
        | -> child task-2 r-7 reader "b" | -> model 3 messages
        > cycle_llm_response "I wait."
        > sub_run_completed r-5 Completed "A"
        > sub_run_completed r-7 Completed "B" | cycle_injected_messages sub_tasks 2
        | cycle_started after 6 messages | -> model 6 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool result(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | assistant "I wait."
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | user "[The sub-task task-2 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}"
        | assistant "done"
        "#,
    );
}

const AN_ANSWER_THAT_COMES_AFTER_A_1: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > sub_run_completed r-5 Completed "A"
        > cycle_llm_response "" | cycle_injected_messages sub_tasks 1
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "" task_finish(2) | tool_call_planned task_finish(2)
        | tool_call_started task_finish(2) | -> task_finish(2)
        > tool_result task_finish(2) "over" finish | run_completed "over"
        = completed "over"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant task_finish(2) | tool result(2) "over"
        "#;

const AN_ANSWER_THAT_COMES_AFTER_A_2: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > sub_run_completed r-5 Completed "A"
        > cycle_llm_response "first" | cycle_injected_messages sub_tasks 1
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "second" | run_completed "second"
        = completed "second"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "first"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "second"
        "#;

#[test]
fn s09_an_answer_that_comes_after_a_child_takes_one_more_cycle() {
    check(
        r#"
        sub_agent reader "reads"
        silence continue
        tool task_finish read
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        child task-1 "A"
        model " "
        model task_finish(2)
        2 "over" finish
        "#,
        AN_ANSWER_THAT_COMES_AFTER_A_1,
    );
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        child task-1 "A"
        model "first"
        model "second"
        "#,
        AN_ANSWER_THAT_COMES_AFTER_A_2,
    );
}

#[test]
fn s09_something_said_ends_the_waiting_of_an_answer() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model "I wait."
        steer "do not wait"
        model "as you say"
        child task-1 "A"
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
        > cycle_llm_response "I wait."
        > session_steer_dequeued "do not wait" | cycle_injected_messages steering 1
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "as you say"
        > sub_run_completed r-5 Completed "A" | cycle_injected_messages sub_tasks 1
        | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "I wait." | user "do not wait" | assistant "as you say"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "done"
        "#,
    );
}

#[test]
fn s09_a_cancellation_ends_the_waiting_and_the_children() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model "I wait."
        cancel
        child task-1 stopped used 3
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > cycle_llm_response "I wait."
        > -x 6 interrupt
        > sub_run_completed r-5 Cancelled "broke: it broke" | run_cancelled
        # charged calls 2 tools 1 runs 1 | tokens 3 or more | uncached 0 or more | cost 0 or more
        = cancelled
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "I wait."
        "#,
    );
}

#[test]
fn s09_at_the_end_of_the_cycles_children_are_stopped_and_heard() {
    check(
        r#"
        sub_agent reader "reads"
        cycles 2
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model "my last word"
        steer "too late"
        child task-1 "A" used 3
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > -x 6 interrupt | cycle_llm_response "my last word"
        > sub_run_completed r-5 Completed "A" | run_completed "my last word"
        # charged calls 2 tools 1 runs 1 | tokens 3 or more | uncached 0 or more | cost 0 or more
        = completed "my last word"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "my last word"
        = returned "too late"
        "#,
    );
    check(
        r#"
        sub_agent reader "reads"
        cycles 2
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model "my last word"
        time
        suspend
        cancel
        child task-1 lost
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > -x 6 interrupt | cycle_llm_response "my last word"
        > sub_run_completed r-5 None "it broke" | run_cancelled
        = cancelled
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "my last word"
        "#,
    );
}

const WHATEVER_ENDS_A_RUN_ENDS_ITS_1: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > -x 6 interrupt
        > sub_run_completed r-5 Cancelled "broke: it broke" | run_failed model_failed
        = failed model_failed
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        "#;

const WHATEVER_ENDS_A_RUN_ENDS_ITS_2: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"} ask_user(2)
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | tool_call_planned ask_user(2) | -> child task-1 r-5 reader "a"
        | tool_call_started ask_user(2) | -> ask_user(2)
        > -x 6 interrupt | tool_result ask_user(2) "which?" wait
        > sub_run_completed r-5 Cancelled "broke: it broke" | run_wait_user "which?"
        = waits for "which?"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"} ask_user(2)
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | tool result(2) "which?"
        "#;

const WHATEVER_ENDS_A_RUN_ENDS_ITS_3: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > -x 6 interrupt | -x 7 interrupt
        > sub_run_completed r-5 Cancelled "broke: it broke"
        > budget_exhausted wall_time
        = budget_exhausted wall_time
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        "#;

#[test]
fn s09_whatever_ends_a_run_ends_its_children() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model fails
        cancel
        child task-1 stopped
        "#,
        WHATEVER_ENDS_A_RUN_ENDS_ITS_1,
    );
    check(
        r#"
        sub_agent reader "reads"
        tool ask_user
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true} ask_user(2)
        2 "which?" wait
        child task-1 stopped
        "#,
        WHATEVER_ENDS_A_RUN_ENDS_ITS_2,
    );
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        time
        child task-1 stopped
        model halted
        "#,
        WHATEVER_ENDS_A_RUN_ENDS_ITS_3,
    );
}

const A_STATUS_TELLS_AN_END_ONCE_1: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool_call_planned create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool_call_started create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | sub_run_started task-1 r-5 reader in the background
        | sub_run_started task-2 r-7 reader in the background
        | tool_result create_sub_task_batch(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a"
        | -> child task-2 r-7 reader "b" | -> model 3 messages
        > cycle_llm_response "" sub_task_status(2) | tool_call_planned sub_task_status(2)
        | tool_call_started sub_task_status(2)
        | tool_result sub_task_status(2) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" sub_task_status(3){"task_ids":["task-2","task-2"]}
        | tool_call_planned sub_task_status(3){"task_ids":["task-2","task-2"]}
        | tool_call_started sub_task_status(3){"task_ids":["task-2","task-2"]}
        | tool_result sub_task_status(3) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | cycle_started after 7 messages | -> model 7 messages
        > sub_run_completed r-5 Completed "A"
        > sub_run_completed r-7 Completed "B"
        > cycle_llm_response "" sub_task_status(4){"task_ids":["task-1"]} sub_task_status(5) sub_task_status(6){"task_ids":["task-3"]}
        | tool_call_planned sub_task_status(4){"task_ids":["task-1"]}
        | tool_call_planned sub_task_status(5)
        | tool_call_planned sub_task_status(6){"task_ids":["task-3"]}
        | tool_call_started sub_task_status(4){"task_ids":["task-1"]}
        | tool_result sub_task_status(4) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}]}"
        | tool_call_started sub_task_status(5)
        | tool_result sub_task_status(5) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"told_before\":true},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}]}"
        | tool_call_started sub_task_status(6){"task_ids":["task-3"]}
        | tool_result sub_task_status(6) !unknown_sub_task | cycle_started after 11 messages
        | -> model 11 messages
        # tool result(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | tool result(2) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | tool result(3) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | tool result(4) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}]}"
        | tool result(5) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"told_before\":true},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}]}"
        | tool result(6) "{\"ok\":false,\"error\":\"there is no sub-task task-3, sub_task_status tells which there are\",\"error_code\":\"unknown_sub_task\",\"tool_name\":\"sub_task_status\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool result(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | assistant sub_task_status(2)
        | tool result(2) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | assistant sub_task_status(3){"task_ids":["task-2","task-2"]}
        | tool result(3) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | assistant sub_task_status(4){"task_ids":["task-1"]} sub_task_status(5) sub_task_status(6){"task_ids":["task-3"]}
        | tool result(4) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}]}"
        | tool result(5) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"told_before\":true},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}]}"
        | tool result(6) !unknown_sub_task | assistant "done"
        "#;

#[test]
fn s09_a_status_tells_an_end_once() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}],"background":true}
        model sub_task_status(2){}
        model sub_task_status(3){"task_ids":["task-2","task-2"]}
        child task-1 "A"
        child task-2 "B"
        model sub_task_status(4){"task_ids":["task-1"]} sub_task_status(5){} sub_task_status(6){"task_ids":["task-3"]}
        show results
        model "done"
        "#,
        A_STATUS_TELLS_AN_END_ONCE_1,
    );
}

#[test]
fn s09_a_wait_ends_with_the_last_child_or_with_its_time() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}],"background":true}
        model wait_sub_tasks(2){"timeout_seconds":300}
        child task-1 "A"
        waited
        model wait_sub_tasks(3){"task_ids":["task-1","task-2"],"timeout_seconds":300}
        child task-2 "B"
        model wait_sub_tasks(4){"timeout_seconds":300}
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool_call_planned create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool_call_started create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | sub_run_started task-1 r-5 reader in the background
        | sub_run_started task-2 r-7 reader in the background
        | tool_result create_sub_task_batch(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a"
        | -> child task-2 r-7 reader "b" | -> model 3 messages
        > cycle_llm_response "" wait_sub_tasks(2){"timeout_seconds":300}
        | tool_call_planned wait_sub_tasks(2){"timeout_seconds":300}
        | tool_call_started wait_sub_tasks(2){"timeout_seconds":300} | -> waits 300000 ms
        > sub_run_completed r-5 Completed "A"
        > tool_result wait_sub_tasks(2) "{\"ok\":true,\"ended_by\":\"timeout\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" wait_sub_tasks(3){"task_ids":["task-1","task-2"],"timeout_seconds":300}
        | tool_call_planned wait_sub_tasks(3){"task_ids":["task-1","task-2"],"timeout_seconds":300}
        | tool_call_started wait_sub_tasks(3){"task_ids":["task-1","task-2"],"timeout_seconds":300}
        | -> waits 300000 ms
        > -x 16 withdraw | sub_run_completed r-7 Completed "B"
        | tool_result wait_sub_tasks(3) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"told_before\":true},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}]}"
        | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "" wait_sub_tasks(4){"timeout_seconds":300}
        | tool_call_planned wait_sub_tasks(4){"timeout_seconds":300}
        | tool_call_started wait_sub_tasks(4){"timeout_seconds":300}
        | tool_result wait_sub_tasks(4) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[]}"
        | cycle_started after 9 messages | -> model 9 messages
        # tool result(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | tool result(2) "{\"ok\":true,\"ended_by\":\"timeout\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | tool result(3) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"told_before\":true},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}]}"
        | tool result(4) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[]}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool result(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | assistant wait_sub_tasks(2){"timeout_seconds":300}
        | tool result(2) "{\"ok\":true,\"ended_by\":\"timeout\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | assistant wait_sub_tasks(3){"task_ids":["task-1","task-2"],"timeout_seconds":300}
        | tool result(3) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"told_before\":true},{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}]}"
        | assistant wait_sub_tasks(4){"timeout_seconds":300}
        | tool result(4) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[]}"
        | assistant "done"
        "#,
    );
}

#[test]
fn s09_the_time_of_a_wait_counts_from_the_call() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        at 1000
        model wait_sub_tasks(2){"timeout_seconds":300}
        at 200000
        suspend
        child task-1 suspended
        store
        at 250000
        resume
        suspend
        child task-1 suspended
        at 900000
        resume
        waited
        child task-1 "A"
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
        > cycle_llm_response "" wait_sub_tasks(2){"timeout_seconds":300}
        | tool_call_planned wait_sub_tasks(2){"timeout_seconds":300}
        | tool_call_started wait_sub_tasks(2){"timeout_seconds":300} | -> waits 300000 ms
        > -x 6 settle
        > -x 10 withdraw | run_suspended
        > run_resumed | -> waits 51000 ms | -> child task-1 r-5 reader "a" from {"stored":"r-5"}
        > -x 11 settle
        > -x 10 withdraw | run_suspended
        > run_resumed | -> waits 0 ms | -> child task-1 r-5 reader "a" from {"stored":"r-5"}
        > tool_result wait_sub_tasks(2) "{\"ok\":true,\"ended_by\":\"timeout\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | cycle_started after 5 messages | -> model 5 messages
        > sub_run_completed r-5 Completed "A"
        > cycle_llm_response "done" | cycle_injected_messages sub_tasks 1
        | cycle_started after 7 messages | -> model 7 messages
        = awaiting_model
        "#,
    );
}

#[test]
fn s09_something_said_ends_a_wait() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model wait_sub_tasks(2){"timeout_seconds":300} wait_sub_tasks(3){"timeout_seconds":0}
        steer "hey"
        show results
        model "yes?"
        child task-1 "A"
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
        > cycle_llm_response "" wait_sub_tasks(2){"timeout_seconds":300} wait_sub_tasks(3){"timeout_seconds":0}
        | tool_call_planned wait_sub_tasks(2){"timeout_seconds":300}
        | tool_call_planned wait_sub_tasks(3){"timeout_seconds":0}
        | tool_call_started wait_sub_tasks(2){"timeout_seconds":300} | -> waits 300000 ms
        | tool_call_started wait_sub_tasks(3){"timeout_seconds":0} | -> waits 0 ms
        > -x 11 withdraw | -x 13 withdraw
        | tool_result wait_sub_tasks(2) "{\"ok\":true,\"ended_by\":\"steering\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | session_steer_interrupt after 2 "hey"
        | tool_result wait_sub_tasks(3) "{\"ok\":true,\"ended_by\":\"steering\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | run_steered after 2 prompts 1 steering 1 | cycle_started after 7 messages
        | -> model 7 messages
        # tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | tool result(2) "{\"ok\":true,\"ended_by\":\"steering\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | tool result(3) "{\"ok\":true,\"ended_by\":\"steering\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        > cycle_llm_response "yes?"
        > sub_run_completed r-5 Completed "A" | cycle_injected_messages sub_tasks 1
        | cycle_started after 9 messages | -> model 9 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant wait_sub_tasks(2){"timeout_seconds":300} wait_sub_tasks(3){"timeout_seconds":0}
        | tool result(2) "{\"ok\":true,\"ended_by\":\"steering\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | tool result(3) "{\"ok\":true,\"ended_by\":\"steering\",\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | user "hey" | assistant "yes?"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "done"
        "#,
    );
}

#[test]
fn s09_a_child_at_work_is_steered() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model steer_sub_task(2){"task_id":"task-1","message":"faster"}
        steered
        model steer_sub_task(3){"task_id":"task-1","message":"faster"}
        steered "it has ended"
        show results
        child task-1 "A"
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
        > cycle_llm_response "" steer_sub_task(2){"message":"faster","task_id":"task-1"}
        | tool_call_planned steer_sub_task(2){"message":"faster","task_id":"task-1"}
        | tool_call_started steer_sub_task(2){"message":"faster","task_id":"task-1"}
        | -> steers task-1 "faster"
        > tool_result steer_sub_task(2) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"heard\"}"
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" steer_sub_task(3){"message":"faster","task_id":"task-1"}
        | tool_call_planned steer_sub_task(3){"message":"faster","task_id":"task-1"}
        | tool_call_started steer_sub_task(3){"message":"faster","task_id":"task-1"}
        | -> steers task-1 "faster"
        > tool_result steer_sub_task(3) !sub_task_not_steered | cycle_started after 7 messages
        | -> model 7 messages
        # tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | tool result(2) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"heard\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"the sub-task did not hear it: it has ended\",\"error_code\":\"sub_task_not_steered\",\"tool_name\":\"steer_sub_task\"}"
        > sub_run_completed r-5 Completed "A"
        > cycle_llm_response "done" | cycle_injected_messages sub_tasks 1
        | cycle_started after 9 messages | -> model 9 messages
        = awaiting_model
        "#,
    );
}

#[test]
fn s09_a_shared_budget_that_trips_in_a_child_ends_its_parent() {
    check(
        r#"
        sub_agent reader "reads"
        tool a
        start
        model create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]} a(2)
        child task-1 short tokens used 5
        child task-2 stopped used 6
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]} a(2)
        | tool_call_planned create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | tool_call_started create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]}
        | sub_run_started task-1 r-5 reader | sub_run_started task-2 r-7 reader
        | -> child task-1 r-5 reader "a" | -> child task-2 r-7 reader "b"
        > -x 8 interrupt | sub_run_completed r-5 BudgetExhausted "broke: it broke"
        > sub_run_completed r-7 Cancelled "broke: it broke"
        | tool_result create_sub_task_batch(1) !create_sub_task_batch_failed
        | tool_result a(2) !skipped_due_to_budget | budget_exhausted tokens 9 of 9
        # charged calls 1 tools 1 runs 2 | tokens 11 or more | uncached 0 or more | cost 0 or more
        = budget_exhausted tokens
        = user "go"
        | assistant create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"}]} a(2)
        | tool result(1) !create_sub_task_batch_failed | tool result(2) !skipped_due_to_budget
        "#,
    );
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        child task-1 short cost used 5
        model "too late"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > -x 7 interrupt | sub_run_completed r-5 BudgetExhausted "broke: it broke"
        > cycle_llm_response "too late" | budget_exhausted cost 9 of 9
        = budget_exhausted cost
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "too late"
        "#,
    );
}

#[test]
fn s09_the_live_state_names_every_task() {
    check(
        r#"
        sub_agent reader "reads"
        start
        show children
        model create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"},{"agent_name":"reader","task_description":"c"}],"background":true}
        child task-1 "A"
        child task-2 "B"
        model sub_task_status(2){"task_ids":["task-1"]}
        show children
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        #
        > cycle_llm_response "" create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"},{"agent_name":"reader","task_description":"c"}]}
        | tool_call_planned create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"},{"agent_name":"reader","task_description":"c"}]}
        | tool_call_started create_sub_task_batch(1){"background":true,"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"reader","task_description":"b"},{"agent_name":"reader","task_description":"c"}]}
        | sub_run_started task-1 r-5 reader in the background
        | sub_run_started task-2 r-7 reader in the background
        | sub_run_started task-3 r-9 reader in the background
        | tool_result create_sub_task_batch(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":1,\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"},{\"index\":2,\"ok\":true,\"task_id\":\"task-3\",\"agent_name\":\"reader\",\"status\":\"running\"}]}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a"
        | -> child task-2 r-7 reader "b" | -> child task-3 r-9 reader "c" | -> model 3 messages
        > sub_run_completed r-5 Completed "A"
        > sub_run_completed r-7 Completed "B"
        > cycle_llm_response "" sub_task_status(2){"task_ids":["task-1"]}
        | tool_call_planned sub_task_status(2){"task_ids":["task-1"]}
        | tool_call_started sub_task_status(2){"task_ids":["task-1"]}
        | tool_result sub_task_status(2) "{\"ok\":true,\"tasks\":[{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}]}"
        | cycle_injected_messages sub_tasks 1 | cycle_started after 6 messages
        | -> model 6 messages
        # [Sub-tasks:]
        - task-1 (reader), completed, told: a
        - task-2 (reader), completed, told: b
        - task-3 (reader), at work: c
        = awaiting_model
        "#,
    );
}
