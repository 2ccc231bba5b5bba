//! Section 9: children of runs that are suspended, stored and lost.

use crate::notation::check;

#[test]
fn s09_suspending_a_run_suspends_its_children() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":"b","background":true}
        suspend
        child task-1 suspended r-5-3 used 2
        child task-2 "B" used 4
        store
        show pending
        resume
        child task-1 "A" used 5
        model "done"
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-6 reader | -> child task-1 r-6 reader "a"
        | tool_call_started create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | sub_run_started task-2 r-9 reader in the background
        | tool_result create_sub_task(2) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | -> child task-2 r-9 reader "b"
        > -x 7 settle | -x 10 settle
        > sub_run_completed r-9 Completed "B" | run_suspended r-5-3
        # 11 held -> child task-1 r-6 reader "a" from {"stored":"r-6"}
        > run_resumed | -> child task-1 r-6 reader "a" from {"stored":"r-6"}
        > sub_run_completed r-6 Completed "A"
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | cycle_injected_messages sub_tasks 1 | cycle_started after 5 messages
        | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        # charged calls 2 tools 2 runs 2 | tokens 9 or more | uncached 0 or more | cost 0 or more
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | tool result(2) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | user "[The sub-task task-2 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}"
        | assistant "done"
        "#,
    );
}

const A_RUN_SUSPENDED_WHILE_IT_WAI_1: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > cycle_llm_response "I wait."
        > -x 6 settle
        > run_suspended
        > run_resumed | -> child task-1 r-5 reader "a" from {"stored":"r-5"}
        > sub_run_completed r-5 Completed "A" | cycle_injected_messages sub_tasks 1
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "I wait."
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "done"
        "#;

const A_RUN_SUSPENDED_WHILE_IT_WAI_2: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > cycle_llm_response "I wait."
        > -x 6 settle
        > run_suspended
        > run_resumed | session_steer_dequeued "hey" | cycle_injected_messages steering 1
        | cycle_started after 5 messages | -> child task-1 r-5 reader "a" from {"stored":"r-5"}
        | -> model 5 messages
        > cycle_llm_response "yes?"
        > sub_run_completed r-5 Completed "A" | cycle_injected_messages sub_tasks 1
        | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "I wait." | user "hey" | assistant "yes?"
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "done"
        "#;

const A_RUN_SUSPENDED_WHILE_IT_WAI_3: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > cycle_llm_response "I wait."
        > -x 6 settle
        > sub_run_completed r-5 Completed "A" | run_suspended
        > run_resumed | cycle_injected_messages sub_tasks 1 | cycle_started after 5 messages
        | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant "I wait."
        | user "[The sub-task task-1 in the background has ended:]\n{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "done"
        "#;

#[test]
fn s09_a_run_suspended_while_it_waits_for_children_goes_on_waiting() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model "I wait."
        suspend
        child task-1 suspended
        store
        resume
        child task-1 "A"
        model "done"
        "#,
        A_RUN_SUSPENDED_WHILE_IT_WAI_1,
    );
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model "I wait."
        suspend
        child task-1 suspended
        steer "hey"
        store
        resume
        model "yes?"
        child task-1 "A"
        model "done"
        "#,
        A_RUN_SUSPENDED_WHILE_IT_WAI_2,
    );
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model "I wait."
        suspend
        child task-1 "A"
        resume
        model "done"
        "#,
        A_RUN_SUSPENDED_WHILE_IT_WAI_3,
    );
}

#[test]
fn s09_a_suspended_run_that_is_cancelled_ends_its_children() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"}
        suspend
        child task-1 suspended used 3
        store
        cancel
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-5 reader | -> child task-1 r-5 reader "a"
        > -x 6 settle
        > run_suspended
        > run_resumed | sub_run_completed r-5 Cancelled "it was stopped while it was suspended"
        | tool_result create_sub_task(1) !sub_task_failed | run_cancelled
        # charged calls 1 tools 1 runs 1 | tokens 3 or more | uncached 0 or more | cost 0 or more
        = cancelled
        = user "go" | assistant create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool result(1) !sub_task_failed
        "#,
    );
}

const A_CHILD_THAT_WAS_AT_WORK_WHE_1: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-6 reader | -> child task-1 r-6 reader "a"
        | tool_call_started create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | sub_run_started task-2 r-9 reader in the background
        | tool_result create_sub_task(2) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | -> child task-2 r-9 reader "b"
        > run_resumed | sub_run_completed r-6 None "it was at work when the process was lost"
        | sub_run_completed r-9 None "it was at work when the process was lost"
        | tool_result create_sub_task(1) !sub_task_outcome_unknown
        | cycle_injected_messages sub_tasks 1 | cycle_started after 5 messages
        | -> model 5 messages
        # tool result(1) "{\"ok\":false,\"error\":\"what came of the sub-task is not known: it was at work when the process was lost; what it was at may have taken effect, verify before you repeat it\",\"error_code\":\"sub_task_outcome_unknown\",\"tool_name\":\"create_sub_task\",\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"unknown\"}"
        | tool result(2) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        # user "go"
        | assistant create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | tool result(1) !sub_task_outcome_unknown
        | tool result(2) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | user "[The sub-task task-2 in the background has ended:]\n{\"ok\":false,\"error\":\"what came of the sub-task is not known: it was at work when the process was lost; what it was at may have taken effect, verify before you repeat it\",\"error_code\":\"sub_task_outcome_unknown\",\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"unknown\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","background":true,"task_description":"b"}
        | tool result(1) !sub_task_outcome_unknown
        | tool result(2) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | user "[The sub-task task-2 in the background has ended:]\n{\"ok\":false,\"error\":\"what came of the sub-task is not known: it was at work when the process was lost; what it was at may have taken effect, verify before you repeat it\",\"error_code\":\"sub_task_outcome_unknown\",\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"unknown\"}"
        | assistant "done"
        "#;

const A_CHILD_THAT_WAS_AT_WORK_WHE_2: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > -x 6 settle | -x 7 settle
        > run_suspended
        > run_resumed | -> child task-1 r-5 reader "a" from {"stored":"r-5"} | -> model 3 messages
        > run_resumed | sub_run_completed r-5 None "it was at work when the process was lost"
        | -> model 3 messages
        > cycle_llm_response "done" | cycle_injected_messages sub_tasks 1
        | cycle_started after 5 messages | -> model 5 messages
        # charged calls 4 tools 1 runs 1 | tokens 3 or more | uncached 0 or more | cost 0 or more
        = awaiting_model
        "#;

#[test]
fn s09_a_child_that_was_at_work_when_the_process_was_lost_is_not_run_again() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":"b","background":true}
        crash
        resume
        show results
        show request
        model "done"
        "#,
        A_CHILD_THAT_WAS_AT_WORK_WHE_1,
    );
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        suspend
        child task-1 suspended used 3
        model halted
        resume
        crash
        resume
        model "done"
        show spent
        "#,
        A_CHILD_THAT_WAS_AT_WORK_WHE_2,
    );
}

const WHAT_ELSE_WAITS_WHEN_THE_PRO_1: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > cycle_llm_response "" steer_sub_task(2){"message":"x","task_id":"task-1"} wait_sub_tasks(3){"timeout_seconds":5}
        | tool_call_planned steer_sub_task(2){"message":"x","task_id":"task-1"}
        | tool_call_planned wait_sub_tasks(3){"timeout_seconds":5}
        | tool_call_started steer_sub_task(2){"message":"x","task_id":"task-1"}
        | -> steers task-1 "x" | tool_call_started wait_sub_tasks(3){"timeout_seconds":5}
        | -> waits 5000 ms
        > run_resumed | sub_run_completed r-5 None "it was at work when the process was lost"
        | tool_result steer_sub_task(2) !tool_outcome_unknown
        | tool_result wait_sub_tasks(3) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[{\"ok\":false,\"error\":\"what came of the sub-task is not known: it was at work when the process was lost; what it was at may have taken effect, verify before you repeat it\",\"error_code\":\"sub_task_outcome_unknown\",\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"unknown\"}]}"
        | cycle_started after 6 messages | -> model 6 messages
        # tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | tool result(2) "{\"ok\":false,\"error\":\"the run was interrupted while the tool was at work; it may have taken effect, verify before you repeat it\",\"error_code\":\"tool_outcome_unknown\",\"tool_name\":\"steer_sub_task\"}"
        | tool result(3) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[{\"ok\":false,\"error\":\"what came of the sub-task is not known: it was at work when the process was lost; what it was at may have taken effect, verify before you repeat it\",\"error_code\":\"sub_task_outcome_unknown\",\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"unknown\"}]}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | assistant steer_sub_task(2){"message":"x","task_id":"task-1"} wait_sub_tasks(3){"timeout_seconds":5}
        | tool result(2) !tool_outcome_unknown
        | tool result(3) "{\"ok\":true,\"ended_by\":\"all_ended\",\"tasks\":[{\"ok\":false,\"error\":\"what came of the sub-task is not known: it was at work when the process was lost; what it was at may have taken effect, verify before you repeat it\",\"error_code\":\"sub_task_outcome_unknown\",\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"unknown\"}]}"
        | assistant "done"
        "#;

const WHAT_ELSE_WAITS_WHEN_THE_PRO_2: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > -x 6 interrupt
        > run_resumed | sub_run_completed r-5 None "it was at work when the process was lost"
        | run_failed model_failed
        = failed model_failed
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        "#;

#[test]
fn s09_what_else_waits_when_the_process_is_lost() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model steer_sub_task(2){"task_id":"task-1","message":"x"} wait_sub_tasks(3){"timeout_seconds":5}
        crash
        resume
        show results
        model "done"
        "#,
        WHAT_ELSE_WAITS_WHEN_THE_PRO_1,
    );
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model fails
        crash
        resume
        "#,
        WHAT_ELSE_WAITS_WHEN_THE_PRO_2,
    );
}

#[test]
fn s09_a_child_that_was_suspended_by_somebody_goes_on() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"}
        child task-1 suspended
        child task-1 "A"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-5 reader | -> child task-1 r-5 reader "a"
        > -> child task-1 r-5 reader "a" from {"stored":"r-5"}
        > sub_run_completed r-5 Completed "A"
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant "done"
        "#,
    );
}
