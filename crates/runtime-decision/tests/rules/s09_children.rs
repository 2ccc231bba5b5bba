//! Section 9: a run delegates to children.
//!
//! Length: each script stands beside all that comes of it.

use crate::notation::check;

#[test]
fn s09_a_task_is_waited_for_and_its_answer_is_the_result() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"read é"}
        child task-1 "it says é" used 7
        show results
        model "done"
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"read é"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"read é"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"read é"}
        | sub_run_started task-1 r-5 reader | -> child task-1 r-5 reader "read é"
        > sub_run_completed r-5 Completed "it says é"
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"it says é\"}"
        | cycle_started after 3 messages | -> model 3 messages
        # tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"it says é\"}"
        > cycle_llm_response "done" | run_completed "done"
        # charged calls 2 tools 1 runs 1 | tokens 7 or more | uncached 0 or more | cost 0 or more
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","task_description":"read é"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"it says é\"}"
        | assistant "done"
        "#,
    );
}

#[test]
fn s09_tasks_of_one_answer_run_side_by_side() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":"b"}
        child task-2 "B"
        child task-1 "A"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":"b"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(2){"agent_name":"reader","task_description":"b"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-6 reader | -> child task-1 r-6 reader "a"
        | tool_call_started create_sub_task(2){"agent_name":"reader","task_description":"b"}
        | sub_run_started task-2 r-9 reader | -> child task-2 r-9 reader "b"
        > sub_run_completed r-9 Completed "B"
        | tool_result create_sub_task(2) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}"
        > sub_run_completed r-6 Completed "A"
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":"b"}
        | tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | tool result(2) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"B\"}"
        | assistant "done"
        "#,
    );
}

#[test]
fn s09_a_batch_reports_by_index() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"},{"agent_name":"reader","task_description":"c"}]}
        child task-2 asks "which?"
        child task-1 "A"
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"},{"agent_name":"reader","task_description":"c"}]}
        | tool_call_planned create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"},{"agent_name":"reader","task_description":"c"}]}
        | tool_call_started create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"},{"agent_name":"reader","task_description":"c"}]}
        | sub_run_started task-1 r-5 reader | sub_run_started task-2 r-7 reader
        | -> child task-1 r-5 reader "a" | -> child task-2 r-7 reader "c"
        > sub_run_completed r-7 WaitUser "which?"
        > sub_run_completed r-5 Completed "A"
        | tool_result create_sub_task_batch(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"},{\"index\":1,\"ok\":false,\"error\":\"there is no such sub-agent, take one of: reader\",\"error_code\":\"unknown_sub_agent\",\"agent_name\":\"nobody\"},{\"index\":2,\"ok\":false,\"error\":\"the sub-task asks something; answer it with continue_sub_task\",\"error_code\":\"sub_task_wait_user\",\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"wait_user\",\"question\":\"which?\"}]}"
        | cycle_started after 3 messages | -> model 3 messages
        # tool result(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"},{\"index\":1,\"ok\":false,\"error\":\"there is no such sub-agent, take one of: reader\",\"error_code\":\"unknown_sub_agent\",\"agent_name\":\"nobody\"},{\"index\":2,\"ok\":false,\"error\":\"the sub-task asks something; answer it with continue_sub_task\",\"error_code\":\"sub_task_wait_user\",\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"wait_user\",\"question\":\"which?\"}]}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"},{"agent_name":"reader","task_description":"c"}]}
        | tool result(1) "{\"ok\":true,\"tasks\":[{\"index\":0,\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"},{\"index\":1,\"ok\":false,\"error\":\"there is no such sub-agent, take one of: reader\",\"error_code\":\"unknown_sub_agent\",\"agent_name\":\"nobody\"},{\"index\":2,\"ok\":false,\"error\":\"the sub-task asks something; answer it with continue_sub_task\",\"error_code\":\"sub_task_wait_user\",\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"wait_user\",\"question\":\"which?\"}]}"
        | assistant "done"
        "#,
    );
}

#[test]
fn s09_a_batch_of_which_nothing_succeeds_has_failed() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"}]}
        child task-1 fails
        show results
        model create_sub_task_batch(2){"tasks":[{"agent_name":"nobody","task_description":"b"}]}
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"}]}
        | tool_call_planned create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"}]}
        | tool_call_started create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"}]}
        | sub_run_started task-1 r-5 reader | -> child task-1 r-5 reader "a"
        > sub_run_completed r-5 Failed "broke: it broke"
        | tool_result create_sub_task_batch(1) !create_sub_task_batch_failed
        | cycle_started after 3 messages | -> model 3 messages
        # tool result(1) "{\"ok\":false,\"error\":\"none of the sub-tasks was completed; each says why\",\"error_code\":\"create_sub_task_batch_failed\",\"tool_name\":\"create_sub_task_batch\",\"tasks\":[{\"index\":0,\"ok\":false,\"error\":\"the sub-task was not completed: broke: it broke; what it did before that stands, verify before you repeat it\",\"error_code\":\"sub_task_failed\",\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"failed\"},{\"index\":1,\"ok\":false,\"error\":\"there is no such sub-agent, take one of: reader\",\"error_code\":\"unknown_sub_agent\",\"agent_name\":\"nobody\"}]}"
        > cycle_llm_response "" create_sub_task_batch(2){"tasks":[{"agent_name":"nobody","task_description":"b"}]}
        | tool_call_planned create_sub_task_batch(2){"tasks":[{"agent_name":"nobody","task_description":"b"}]}
        | tool_call_started create_sub_task_batch(2){"tasks":[{"agent_name":"nobody","task_description":"b"}]}
        | tool_result create_sub_task_batch(2) !create_sub_task_batch_failed
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go"
        | assistant create_sub_task_batch(1){"tasks":[{"agent_name":"reader","task_description":"a"},{"agent_name":"nobody","task_description":"b"}]}
        | tool result(1) !create_sub_task_batch_failed
        | assistant create_sub_task_batch(2){"tasks":[{"agent_name":"nobody","task_description":"b"}]}
        | tool result(2) !create_sub_task_batch_failed | assistant "done"
        "#,
    );
}

#[test]
fn s09_the_errors_of_a_child_are_errors_of_the_call() {
    for (end, code) in [
        ("asks \"which?\"", "sub_task_wait_user"),
        ("fails", "sub_task_failed"),
        ("limit \"so far\"", "sub_task_failed"),
        ("stopped", "sub_task_failed"),
        ("unstarted", "sub_task_failed"),
        ("panics", "sub_task_failed"),
        ("lost", "sub_task_outcome_unknown"),
    ] {
        let script = format!(
            r#"
            sub_agent reader "reads"
            start
            model create_sub_task(1){{"agent_name":"reader","task_description":"a"}}
            child task-1 {end}
            "#
        );
        let told = crate::notation::happens(&script);
        assert!(told.contains(&format!("tool_result create_sub_task(1) !{code}")), "{end}: {told}");
    }
}

#[test]
fn s09_what_the_model_is_told_of_failures() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":"b"} create_sub_task(3){"agent_name":"reader","task_description":"c"} create_sub_task(4){"agent_name":"reader","task_description":"d"}
        child task-1 asks "which?"
        child task-2 limit "so far"
        child task-3 lost
        child task-4 unstarted
        show results
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":"b"} create_sub_task(3){"agent_name":"reader","task_description":"c"} create_sub_task(4){"agent_name":"reader","task_description":"d"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(2){"agent_name":"reader","task_description":"b"}
        | tool_call_planned create_sub_task(3){"agent_name":"reader","task_description":"c"}
        | tool_call_planned create_sub_task(4){"agent_name":"reader","task_description":"d"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-8 reader | -> child task-1 r-8 reader "a"
        | tool_call_started create_sub_task(2){"agent_name":"reader","task_description":"b"}
        | sub_run_started task-2 r-11 reader | -> child task-2 r-11 reader "b"
        | tool_call_started create_sub_task(3){"agent_name":"reader","task_description":"c"}
        | sub_run_started task-3 r-14 reader | -> child task-3 r-14 reader "c"
        | tool_call_started create_sub_task(4){"agent_name":"reader","task_description":"d"}
        | sub_run_started task-4 r-17 reader | -> child task-4 r-17 reader "d"
        > sub_run_completed r-8 WaitUser "which?"
        | tool_result create_sub_task(1) !sub_task_wait_user
        > sub_run_completed r-11 MaxCycles "so far"
        | tool_result create_sub_task(2) !sub_task_failed
        > sub_run_completed r-14 None "it broke"
        | tool_result create_sub_task(3) !sub_task_outcome_unknown
        > sub_run_completed r-17 None "it broke" | tool_result create_sub_task(4) !sub_task_failed
        | cycle_started after 6 messages | -> model 6 messages
        # tool result(1) "{\"ok\":false,\"error\":\"the sub-task asks something; answer it with continue_sub_task\",\"error_code\":\"sub_task_wait_user\",\"tool_name\":\"create_sub_task\",\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"wait_user\",\"question\":\"which?\"}"
        | tool result(2) "{\"ok\":false,\"error\":\"the sub-task was not completed: broke: it broke; what it did before that stands, verify before you repeat it\",\"error_code\":\"sub_task_failed\",\"tool_name\":\"create_sub_task\",\"task_id\":\"task-2\",\"agent_name\":\"reader\",\"status\":\"max_cycles\",\"answer\":\"so far\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"what came of the sub-task is not known: it broke; what it was at may have taken effect, verify before you repeat it\",\"error_code\":\"sub_task_outcome_unknown\",\"tool_name\":\"create_sub_task\",\"task_id\":\"task-3\",\"agent_name\":\"reader\",\"status\":\"unknown\"}"
        | tool result(4) "{\"ok\":false,\"error\":\"the sub-task was not started: it broke\",\"error_code\":\"sub_task_failed\",\"tool_name\":\"create_sub_task\",\"task_id\":\"task-4\",\"agent_name\":\"reader\",\"status\":\"not_started\"}"
        = awaiting_model
        "#,
    );
}

#[test]
fn s09_a_child_that_asks_is_answered_by_going_on_with_it() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"}
        child task-1 asks "which?" used 3
        model continue_sub_task(2){"task_id":"task-1","message":"the first"}
        child task-1 "A" used 4
        model continue_sub_task(3){"task_id":"task-1","message":"and more"}
        child task-1 "AA" used 5
        model "done"
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-5 reader | -> child task-1 r-5 reader "a"
        > sub_run_completed r-5 WaitUser "which?"
        | tool_result create_sub_task(1) !sub_task_wait_user | cycle_started after 3 messages
        | -> model 3 messages
        > cycle_llm_response "" continue_sub_task(2){"message":"the first","task_id":"task-1"}
        | tool_call_planned continue_sub_task(2){"message":"the first","task_id":"task-1"}
        | tool_call_started continue_sub_task(2){"message":"the first","task_id":"task-1"}
        | sub_run_started task-1 r-10 reader
        | -> child task-1 r-10 reader "the first" after 1 messages
        > sub_run_completed r-10 Completed "A"
        | tool_result continue_sub_task(2) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "" continue_sub_task(3){"message":"and more","task_id":"task-1"}
        | tool_call_planned continue_sub_task(3){"message":"and more","task_id":"task-1"}
        | tool_call_started continue_sub_task(3){"message":"and more","task_id":"task-1"}
        | sub_run_started task-1 r-15 reader
        | -> child task-1 r-15 reader "and more" after 2 messages
        > sub_run_completed r-15 Completed "AA"
        | tool_result continue_sub_task(3) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"AA\"}"
        | cycle_started after 7 messages | -> model 7 messages
        > cycle_llm_response "done" | run_completed "done"
        # charged calls 4 tools 3 runs 3 | tokens 12 or more | uncached 0 or more | cost 0 or more
        = completed "done"
        = user "go" | assistant create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool result(1) !sub_task_wait_user
        | assistant continue_sub_task(2){"message":"the first","task_id":"task-1"}
        | tool result(2) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | assistant continue_sub_task(3){"message":"and more","task_id":"task-1"}
        | tool result(3) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"AA\"}"
        | assistant "done"
        "#,
    );
}

#[test]
fn s09_what_cannot_be_gone_on_with_is_said() {
    check(
        r#"
        sub_agent reader "reads"
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a","background":true}
        model continue_sub_task(2){"task_id":"task-1","message":"x"} continue_sub_task(3){"task_id":"task-9","message":"x"} continue_sub_task(4){"task_id":"task-01","message":"x"} steer_sub_task(5){"task_id":"task-2","message":"x"}
        child task-1 lost
        model steer_sub_task(6){"task_id":"task-1","message":"x"} continue_sub_task(7){"task_id":"task-1","message":"x"}
        show results
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","background":true,"task_description":"a"}
        | sub_run_started task-1 r-5 reader in the background
        | tool_result create_sub_task(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | cycle_started after 3 messages | -> child task-1 r-5 reader "a" | -> model 3 messages
        > cycle_llm_response "" continue_sub_task(2){"message":"x","task_id":"task-1"} continue_sub_task(3){"message":"x","task_id":"task-9"} continue_sub_task(4){"message":"x","task_id":"task-01"} steer_sub_task(5){"message":"x","task_id":"task-2"}
        | tool_call_planned continue_sub_task(2){"message":"x","task_id":"task-1"}
        | tool_call_planned continue_sub_task(3){"message":"x","task_id":"task-9"}
        | tool_call_planned continue_sub_task(4){"message":"x","task_id":"task-01"}
        | tool_call_planned steer_sub_task(5){"message":"x","task_id":"task-2"}
        | tool_call_started continue_sub_task(2){"message":"x","task_id":"task-1"}
        | tool_result continue_sub_task(2) !sub_task_running
        | tool_call_started continue_sub_task(3){"message":"x","task_id":"task-9"}
        | tool_result continue_sub_task(3) !unknown_sub_task
        | tool_call_started continue_sub_task(4){"message":"x","task_id":"task-01"}
        | tool_result continue_sub_task(4) !unknown_sub_task
        | tool_call_started steer_sub_task(5){"message":"x","task_id":"task-2"}
        | tool_result steer_sub_task(5) !unknown_sub_task | cycle_started after 8 messages
        | -> model 8 messages
        > sub_run_completed r-5 None "it broke"
        > cycle_llm_response "" steer_sub_task(6){"message":"x","task_id":"task-1"} continue_sub_task(7){"message":"x","task_id":"task-1"}
        | tool_call_planned steer_sub_task(6){"message":"x","task_id":"task-1"}
        | tool_call_planned continue_sub_task(7){"message":"x","task_id":"task-1"}
        | tool_call_started steer_sub_task(6){"message":"x","task_id":"task-1"}
        | tool_result steer_sub_task(6) !sub_task_ended
        | tool_call_started continue_sub_task(7){"message":"x","task_id":"task-1"}
        | tool_result continue_sub_task(7) !sub_task_untold | cycle_injected_messages sub_tasks 1
        | cycle_started after 12 messages | -> model 12 messages
        # tool result(1) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"running\"}"
        | tool result(2) "{\"ok\":false,\"error\":\"the sub-task is at work, say it with steer_sub_task\",\"error_code\":\"sub_task_running\",\"tool_name\":\"continue_sub_task\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"there is no sub-task task-9, sub_task_status tells which there are\",\"error_code\":\"unknown_sub_task\",\"tool_name\":\"continue_sub_task\"}"
        | tool result(4) "{\"ok\":false,\"error\":\"there is no sub-task task-01, sub_task_status tells which there are\",\"error_code\":\"unknown_sub_task\",\"tool_name\":\"continue_sub_task\"}"
        | tool result(5) "{\"ok\":false,\"error\":\"there is no sub-task task-2, sub_task_status tells which there are\",\"error_code\":\"unknown_sub_task\",\"tool_name\":\"steer_sub_task\"}"
        | tool result(6) "{\"ok\":false,\"error\":\"the sub-task has ended, go on with it by continue_sub_task\",\"error_code\":\"sub_task_ended\",\"tool_name\":\"steer_sub_task\"}"
        | tool result(7) "{\"ok\":false,\"error\":\"what it came to was not told yet, ask sub_task_status\",\"error_code\":\"sub_task_untold\",\"tool_name\":\"continue_sub_task\"}"
        = awaiting_model
        "#,
    );
}

const UNKNOWN_AGENTS_LIMITS_AND_AR_1: &str = r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"nobody","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":" "} create_sub_task(3){"agent_name":"reader"} create_sub_task_batch(4){"tasks":[]} wait_sub_tasks(5) create_sub_task(6){"agent_name":"reader","task_description":"a"} create_sub_task(7){"agent_name":"writer","task_description":"b"}
        | tool_call_planned create_sub_task(1){"agent_name":"nobody","task_description":"a"}
        | tool_call_planned create_sub_task(2){"agent_name":"reader","task_description":" "}
        | tool_call_planned create_sub_task(3){"agent_name":"reader"}
        | tool_call_planned create_sub_task_batch(4){"tasks":[]}
        | tool_call_planned wait_sub_tasks(5)
        | tool_call_planned create_sub_task(6){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(7){"agent_name":"writer","task_description":"b"}
        | tool_call_started create_sub_task(1){"agent_name":"nobody","task_description":"a"}
        | tool_result create_sub_task(1) !unknown_sub_agent
        | tool_call_started create_sub_task(2){"agent_name":"reader","task_description":" "}
        | tool_result create_sub_task(2) !invalid_arguments_type
        | tool_call_started create_sub_task(3){"agent_name":"reader"}
        | tool_result create_sub_task(3) !invalid_arguments_type
        | tool_call_started create_sub_task_batch(4){"tasks":[]}
        | tool_result create_sub_task_batch(4) !invalid_arguments_type
        | tool_call_started wait_sub_tasks(5)
        | tool_result wait_sub_tasks(5) !invalid_arguments_type
        | tool_call_started create_sub_task(6){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-16 reader | -> child task-1 r-16 reader "a"
        | tool_call_started create_sub_task(7){"agent_name":"writer","task_description":"b"}
        | tool_result create_sub_task(7) !sub_task_limit
        > sub_run_completed r-16 Completed "A"
        | tool_result create_sub_task(6) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | cycle_started after 9 messages | -> model 9 messages
        > cycle_llm_response "" create_sub_task(8){"agent_name":"writer","task_description":"b"}
        | tool_call_planned create_sub_task(8){"agent_name":"writer","task_description":"b"}
        | tool_call_started create_sub_task(8){"agent_name":"writer","task_description":"b"}
        | sub_run_started task-2 r-22 writer | -> child task-2 r-22 writer "b"
        > sub_run_completed r-22 Completed "B"
        | tool_result create_sub_task(8) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"writer\",\"status\":\"completed\",\"answer\":\"B\"}"
        | cycle_started after 11 messages | -> model 11 messages
        > cycle_llm_response "" create_sub_task(9){"agent_name":"writer","task_description":"c"} continue_sub_task(10){"message":"x","task_id":"task-1"}
        | tool_call_planned create_sub_task(9){"agent_name":"writer","task_description":"c"}
        | tool_call_planned continue_sub_task(10){"message":"x","task_id":"task-1"}
        | tool_call_started create_sub_task(9){"agent_name":"writer","task_description":"c"}
        | tool_result create_sub_task(9) !sub_task_limit
        | tool_call_started continue_sub_task(10){"message":"x","task_id":"task-1"}
        | tool_result continue_sub_task(10) !sub_task_limit | cycle_started after 14 messages
        | -> model 14 messages
        # tool result(1) "{\"ok\":false,\"error\":\"there is no such sub-agent, take one of: reader, writer\",\"error_code\":\"unknown_sub_agent\",\"tool_name\":\"create_sub_task\",\"agent_name\":\"nobody\"}"
        | tool result(2) "{\"ok\":false,\"error\":\"the arguments must be {agent_name: string, task_description: string that is not blank, background?: boolean}\",\"error_code\":\"invalid_arguments_type\",\"tool_name\":\"create_sub_task\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"the arguments must be {agent_name: string, task_description: string that is not blank, background?: boolean}\",\"error_code\":\"invalid_arguments_type\",\"tool_name\":\"create_sub_task\"}"
        | tool result(4) "{\"ok\":false,\"error\":\"the arguments must be {tasks: [{agent_name: string, task_description: string that is not blank}], background?: boolean} with at least one task\",\"error_code\":\"invalid_arguments_type\",\"tool_name\":\"create_sub_task_batch\"}"
        | tool result(5) "{\"ok\":false,\"error\":\"the arguments must be {task_ids?: [string], timeout_seconds: integer from 0}\",\"error_code\":\"invalid_arguments_type\",\"tool_name\":\"wait_sub_tasks\"}"
        | tool result(6) "{\"ok\":true,\"task_id\":\"task-1\",\"agent_name\":\"reader\",\"status\":\"completed\",\"answer\":\"A\"}"
        | tool result(7) "{\"ok\":false,\"error\":\"1 sub-tasks are at work, wait for one of them to end\",\"error_code\":\"sub_task_limit\",\"tool_name\":\"create_sub_task\",\"agent_name\":\"writer\"}"
        | tool result(8) "{\"ok\":true,\"task_id\":\"task-2\",\"agent_name\":\"writer\",\"status\":\"completed\",\"answer\":\"B\"}"
        | tool result(9) "{\"ok\":false,\"error\":\"all 2 sub-tasks of this run were used, do it yourself\",\"error_code\":\"sub_task_limit\",\"tool_name\":\"create_sub_task\",\"agent_name\":\"writer\"}"
        | tool result(10) "{\"ok\":false,\"error\":\"all 2 sub-tasks of this run were used, do it yourself\",\"error_code\":\"sub_task_limit\",\"tool_name\":\"continue_sub_task\"}"
        = awaiting_model
        "#;

#[test]
fn s09_unknown_agents_limits_and_arguments_that_do_not_fit() {
    check(
        r#"
        sub_agent reader "reads"
        sub_agent writer "writes"
        delegates running=1 total=2
        start
        model create_sub_task(1){"agent_name":"nobody","task_description":"a"} create_sub_task(2){"agent_name":"reader","task_description":" "} create_sub_task(3){"agent_name":"reader"} create_sub_task_batch(4){"tasks":[]} wait_sub_tasks(5){} create_sub_task(6){"agent_name":"reader","task_description":"a"} create_sub_task(7){"agent_name":"writer","task_description":"b"}
        child task-1 "A"
        model create_sub_task(8){"agent_name":"writer","task_description":"b"}
        child task-2 "B"
        model create_sub_task(9){"agent_name":"writer","task_description":"c"} continue_sub_task(10){"task_id":"task-1","message":"x"}
        show results
        "#,
        UNKNOWN_AGENTS_LIMITS_AND_AR_1,
    );
}

#[test]
fn s09_a_run_that_is_too_deep_does_not_see_the_tools() {
    check(
        r#"
        sub_agent reader "reads"
        depth 1
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"}
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages with []
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_result create_sub_task(1) !tool_not_allowed | cycle_started after 3 messages
        | -> model 3 messages with []
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool result(1) !tool_not_allowed | assistant "done"
        "#,
    );
    check(
        r#"
        sub_agent reader "reads"
        delegates depth=2
        depth 1
        start
        model create_sub_task(1){"agent_name":"reader","task_description":"a"}
        child task-1 "A"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | tool_call_started create_sub_task(1){"agent_name":"reader","task_description":"a"}
        | sub_run_started task-1 r-5 reader | -> child task-1 r-5 reader "a"
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

#[test]
fn s09_a_call_that_delegates_is_ruled_like_any_other() {
    check(
        r#"
        sub_agent reader "reads"
        tool create_sub_task takes /agent_name one of the names
        policy ask continue_sub_task
        policy deny create_sub_task_batch "not now"
        hook h before_tool_call after_tool_call repeatable
        start
        model create_sub_task(1){"agent_name":"x","task_description":"a"}
        hook h nothing
        hook h nothing
        model create_sub_task_batch(2){"tasks":[{"agent_name":"reader","task_description":"a"}]}
        hook h nothing
        hook h nothing
        model continue_sub_task(3){"task_id":"task-1","message":"x"}
        hook h nothing
        approve 3
        hook h gives "patched"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" create_sub_task(1){"agent_name":"x","task_description":"a"}
        | tool_call_planned create_sub_task(1){"agent_name":"x","task_description":"a"}
        | -> hook h before create_sub_task(1){"agent_name":"x","task_description":"a"}
        > -> hook h after create_sub_task(1) !invalid_arguments_type
        > tool_result create_sub_task(1) !invalid_arguments_type | cycle_started after 3 messages
        | -> model 3 messages
        > cycle_llm_response "" create_sub_task_batch(2){"tasks":[{"agent_name":"reader","task_description":"a"}]}
        | tool_call_planned create_sub_task_batch(2){"tasks":[{"agent_name":"reader","task_description":"a"}]}
        | -> hook h before create_sub_task_batch(2){"tasks":[{"agent_name":"reader","task_description":"a"}]}
        > -> hook h after create_sub_task_batch(2) !policy_denied
        > tool_result create_sub_task_batch(2) !policy_denied | cycle_started after 5 messages
        | -> model 5 messages
        > cycle_llm_response "" continue_sub_task(3){"message":"x","task_id":"task-1"}
        | tool_call_planned continue_sub_task(3){"message":"x","task_id":"task-1"}
        | -> hook h before continue_sub_task(3){"message":"x","task_id":"task-1"}
        > approval_requested r-13 continue_sub_task {"message":"x","task_id":"task-1"}
        | -> human continue_sub_task {"message":"x","task_id":"task-1"} within 600000 ms
        > -x 14 withdraw | approval_resolved r-13 approved
        | tool_call_started continue_sub_task(3){"message":"x","task_id":"task-1"}
        | -> hook h after continue_sub_task(3) !unknown_sub_task
        > tool_result continue_sub_task(3) "patched" | cycle_started after 7 messages
        | -> model 7 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant create_sub_task(1){"agent_name":"x","task_description":"a"}
        | tool result(1) !invalid_arguments_type
        | assistant create_sub_task_batch(2){"tasks":[{"agent_name":"reader","task_description":"a"}]}
        | tool result(2) !policy_denied
        | assistant continue_sub_task(3){"message":"x","task_id":"task-1"}
        | tool result(3) "patched" | assistant "done"
        "#,
    );
}
