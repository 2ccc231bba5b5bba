//! Decides whether every call of an answer comes to its one result (section 4).
//!
//! Length: scripts with all that came of them, one test for each rule of the section.

use crate::notation::check;

#[test]
fn s04_a_call_goes_through_its_stages_in_order() {
    check(
        r#"
        tool a
        hook h before_tool_call after_tool_call
        policy ask a
        start
        model a(1){"x":1}
        hook h nothing
        answer 1 approves
        1 "one"
        hook h nothing
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1){"x":1} | tool_call_planned a(1){"x":1}
        | -> hook h before a(1){"x":1}
        > approval_requested r-5 a {"x":1} | -> human a {"x":1} within 600000 ms
        > approval_resolved r-5 approved | tool_call_started a(1){"x":1} | -> a(1){"x":1}
        > -> hook h after a(1) "one"
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1){"x":1} | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s04_a_failed_call_reads_as_json() {
    check(
        r#"
        tool a
        start
        model b(1) a(2)
        2 error no_such_file "there is no é"
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" b(1) a(2) | tool_call_planned b(1)
        | tool_result b(1) !tool_not_found | tool_call_planned a(2) | tool_call_started a(2)
        | -> a(2)
        > tool_result a(2) !no_such_file | cycle_started after 4 messages | -> model 4 messages
        # tool result(1) "{\"ok\":false,\"error\":\"there is no tool of this name, call one of the listed tools\",\"error_code\":\"tool_not_found\",\"tool_name\":\"b\"}"
        | tool result(2) "{\"ok\":false,\"error\":\"there is no é\",\"error_code\":\"no_such_file\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant b(1) a(2) | tool result(1) !tool_not_found
        | tool result(2) !no_such_file | assistant "done"
        "#,
    );
}

#[test]
fn s04_a_hook_may_patch_the_call() {
    check(
        r#"
        tool a
        tool b
        hook h before_tool_call
        start
        model a(1){"x":1}
        hook h patches b(9){"y":2}
        9 "nine"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1){"x":1} | tool_call_planned a(1){"x":1}
        | -> hook h before a(1){"x":1}
        > tool_call_started b(9){"y":2} | -> b(9){"y":2}
        > tool_result b(9) "nine" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1){"x":1} | tool result(1) "nine" | assistant "done"
        "#,
    );
}

#[test]
fn s04_a_result_that_a_hook_gives_skips_policy_approval_and_execution() {
    check(
        r#"
        tool a
        hook h before_tool_call after_tool_call
        policy ask a
        start
        model a(1) a(2) a(3)
        hook h gives "cached"
        hook h nothing
        hook h gives "cached" id=pending
        hook h gives "and changed"
        hook h gives "cached" id=mine error stale
        hook h nothing
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) a(3) | tool_call_planned a(1) | -> hook h before a(1)
        > -> hook h after a(1) "cached"
        > tool_result a(1) "cached" | tool_call_planned a(2) | -> hook h before a(2)
        > -> hook h after a(2) "cached"
        > tool_result a(2) "and changed" | tool_call_planned a(3) | -> hook h before a(3)
        > -> hook h after a(3) !stale
        > tool_result a(mine) !stale | cycle_started after 5 messages | -> model 5 messages
        # tool result(1) "cached" | tool result(2) "and changed"
        | tool result(3) "{\"ok\":false,\"error\":\"cached\",\"error_code\":\"stale\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) a(3) | tool result(1) "cached"
        | tool result(2) "and changed" | tool result(3) !stale | assistant "done"
        "#,
    );
}

#[test]
fn s04_the_id_of_a_result_is_repaired_to_that_of_the_call() {
    check(
        r#"
        tool a
        hook g before_tool_call after_tool_call
        hook h before_tool_call
        start
        model a(1) a(2)
        hook g patches a(8)
        hook h nothing
        8 "one"
        hook g gives "changed" id=pending
        hook g patches a(9)
        hook h gives "cached"
        hook g nothing
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | -> hook g before a(1)
        > -> hook h before a(8)
        > tool_call_started a(8) | -> a(8)
        > -> hook g after a(8) "one"
        > tool_result a(8) "changed" | tool_call_planned a(2) | -> hook g before a(2)
        > -> hook h before a(9)
        > -> hook g after a(9) "cached"
        > tool_result a(2) "cached" | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "changed" | tool result(2) "cached"
        | assistant "done"
        "#,
    );
}

#[test]
fn s04_arguments() {
    check(
        r#"
        tool a
        start
        model a(1)=null a(2)="" a(3)="{" a(4)="5" a(5)=5 a(6)=[] a(7)="\"x\""
        1 "one"
        2 "two"
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1)=null a(2)="" a(3)="{" a(4)="5" a(5)=5 a(6)=[] a(7)="\"x\""
        | tool_call_planned a(1)=null | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | tool_call_planned a(2)="" | tool_call_started a(2) | -> a(2)
        > tool_result a(2) "two" | tool_call_planned a(3)="{"
        | tool_result a(3) !invalid_arguments_json | tool_call_planned a(4)="5"
        | tool_result a(4) !invalid_arguments_payload | tool_call_planned a(5)=5
        | tool_result a(5) !invalid_arguments_payload | tool_call_planned a(6)=[]
        | tool_result a(6) !invalid_arguments_payload | tool_call_planned a(7)="\"x\""
        | tool_result a(7) !invalid_arguments_payload | cycle_started after 9 messages
        | -> model 9 messages
        # tool result(1) "one" | tool result(2) "two"
        | tool result(3) "{\"ok\":false,\"error\":\"the arguments are no valid JSON, write them again\",\"error_code\":\"invalid_arguments_json\",\"tool_name\":\"a\"}"
        | tool result(4) "{\"ok\":false,\"error\":\"the arguments must be a JSON object, write them as one\",\"error_code\":\"invalid_arguments_payload\",\"tool_name\":\"a\"}"
        | tool result(5) "{\"ok\":false,\"error\":\"the arguments must be a JSON object, write them as one\",\"error_code\":\"invalid_arguments_payload\",\"tool_name\":\"a\"}"
        | tool result(6) "{\"ok\":false,\"error\":\"the arguments must be a JSON object, write them as one\",\"error_code\":\"invalid_arguments_payload\",\"tool_name\":\"a\"}"
        | tool result(7) "{\"ok\":false,\"error\":\"the arguments must be a JSON object, write them as one\",\"error_code\":\"invalid_arguments_payload\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1)=null a(2)="" a(3)="{" a(4)="5" a(5)=5 a(6)=[] a(7)="\"x\""
        | tool result(1) "one" | tool result(2) "two" | tool result(3) !invalid_arguments_json
        | tool result(4) !invalid_arguments_payload | tool result(5) !invalid_arguments_payload
        | tool result(6) !invalid_arguments_payload | tool result(7) !invalid_arguments_payload
        | assistant "done"
        "#,
    );
}

#[test]
fn s04_arguments_that_do_not_follow_the_schema_name_the_path() {
    check(
        r#"
        tool a
        tool a takes /x an integer
        policy ask a
        start
        model a(1){"x":"é"}
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1){"x":"é"} | tool_call_planned a(1){"x":"é"}
        | tool_result a(1) !invalid_arguments_type | cycle_started after 3 messages
        | -> model 3 messages
        # tool result(1) "{\"ok\":false,\"error\":\"argument /x must be an integer\",\"error_code\":\"invalid_arguments_type\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1){"x":"é"} | tool result(1) !invalid_arguments_type
        | assistant "done"
        "#,
    );
}

#[test]
fn s04_arguments_too_deep_to_be_stored_and_read_are_no_object() {
    let depth = 120;
    let deep = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let script = format!("tool a\nstart\nmodel a(1){deep}\nstore\nmodel \"done\"");
    let told = crate::notation::happens(&script);
    assert!(told.contains("tool_result a(1) !invalid_arguments_payload"), "{told}");
    assert!(told.contains("= completed"), "{told}");
}

#[test]
fn s04_a_tool_that_is_hidden_or_unknown_is_not_asked_about() {
    check(
        r#"
        tool a
        tool b
        policy ask b
        hook h before_llm
        with approvals
        start
        hook h hides b
        model b(1) c(2)
        hook h nothing
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> hook h before 1 messages and 2 tools
        > -> model 1 messages with [a]
        > cycle_llm_response "" b(1) c(2) | tool_call_planned b(1)
        | tool_result b(1) !tool_not_allowed | tool_call_planned c(2)
        | tool_result c(2) !tool_not_found | cycle_started after 4 messages
        | -> hook h before 4 messages and 2 tools
        > -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant b(1) c(2) | tool result(1) !tool_not_allowed
        | tool result(2) !tool_not_found | assistant "done"
        "#,
    );
}

#[test]
fn s04_two_calls_under_one_id() {
    check(
        r#"
        tool a
        start
        model a(1){"x":1} a(1){"x":2} a()
        1 "one"
        call-4 "blank"
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1){"x":1} a(call-3){"x":2} a(call-4)
        | tool_call_planned a(1){"x":1} | tool_call_started a(1){"x":1} | -> a(1){"x":1}
        > tool_result a(1) "one" | tool_result a(call-3) !duplicate_tool_call_id
        | tool_call_planned a(call-4) | tool_call_started a(call-4) | -> a(call-4)
        > tool_result a(call-4) "blank" | cycle_started after 5 messages | -> model 5 messages
        # tool result(1) "one"
        | tool result(call-3) "{\"ok\":false,\"error\":\"an earlier call of this answer has the same id; it alone was run, make this call again under an id of its own\",\"error_code\":\"duplicate_tool_call_id\",\"tool_name\":\"a\"}"
        | tool result(call-4) "blank"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1){"x":1} a(call-3){"x":2} a(call-4) | tool result(1) "one"
        | tool result(call-3) !duplicate_tool_call_id | tool result(call-4) "blank"
        | assistant "done"
        "#,
    );
}

#[test]
fn s04_a_policy_may_deny() {
    check(
        r#"
        tool a
        policy deny a "not here"
        hook h after_tool_call
        start
        model a(1)
        hook h nothing
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1)
        | -> hook h after a(1) !policy_denied
        > tool_result a(1) !policy_denied | cycle_started after 3 messages | -> model 3 messages
        # tool result(1) "{\"ok\":false,\"error\":\"not here\",\"error_code\":\"policy_denied\",\"tool_name\":\"a\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) !policy_denied | assistant "done"
        "#,
    );
}

#[test]
fn s04_a_group_runs_side_by_side_and_results_keep_call_order() {
    check(
        r#"
        tool p parallel
        tool s
        start
        model p(1) p(2) s(3) p(4)
        2 "two"
        1 "one"
        3 "three"
        4 "four"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" p(1) p(2) s(3) p(4) | tool_call_planned p(1)
        | tool_call_planned p(2) | tool_call_started p(1) | -> p(1) | tool_call_started p(2)
        | -> p(2)
        > tool_result p(2) "two"
        > tool_result p(1) "one" | tool_call_planned s(3) | tool_call_started s(3) | -> s(3)
        > tool_result s(3) "three" | tool_call_planned p(4) | tool_call_started p(4) | -> p(4)
        > tool_result p(4) "four" | cycle_started after 6 messages | -> model 6 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant p(1) p(2) s(3) p(4) | tool result(1) "one" | tool result(2) "two"
        | tool result(3) "three" | tool result(4) "four" | assistant "done"
        "#,
    );
}

#[test]
fn s04_a_call_that_a_hook_turns_into_one_that_must_run_alone_waits_for_its_group() {
    check(
        r#"
        tool p parallel
        tool s
        hook h before_tool_call
        start
        model p(1) p(2) p(3)
        hook h patches s(1)
        hook h nothing
        hook h nothing
        2 "two"
        3 "three"
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" p(1) p(2) p(3) | tool_call_planned p(1) | tool_call_planned p(2)
        | tool_call_planned p(3) | -> hook h before p(1) | -> hook h before p(2)
        | -> hook h before p(3)
        > tool_call_started p(2) | -> p(2)
        > tool_call_started p(3) | -> p(3)
        > tool_result p(2) "two"
        > tool_result p(3) "three" | tool_call_started s(1) | -> s(1)
        > tool_result s(1) "one" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant p(1) p(2) p(3) | tool result(1) "one" | tool result(2) "two"
        | tool result(3) "three" | assistant "done"
        "#,
    );
}

#[test]
fn s04_siblings_see_the_state_of_the_start_of_their_group() {
    check(
        r#"
        tool p parallel
        tool s
        state {"n":0}
        start
        model s(1) p(2) p(3) s(4)
        1 "one" state {"n":1}
        3 "three" state {"n":3,"k":true}
        2 "two" state {"n":2}
        4 "four"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" s(1) p(2) p(3) s(4) | tool_call_planned s(1)
        | tool_call_started s(1) | -> s(1) state {"n":0}
        > tool_result s(1) "one" | tool_call_planned p(2) | tool_call_planned p(3)
        | tool_call_started p(2) | -> p(2) state {"n":1} | tool_call_started p(3)
        | -> p(3) state {"n":1}
        > tool_result p(3) "three"
        > tool_result p(2) "two" | tool_call_planned s(4) | tool_call_started s(4)
        | -> s(4) state {"k":true,"n":3}
        > tool_result s(4) "four" | cycle_started after 6 messages | -> model 6 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant s(1) p(2) p(3) s(4) | tool result(1) "one" | tool result(2) "two"
        | tool result(3) "three" | tool result(4) "four" | assistant "done"
        = state {"k":true,"n":3}
        "#,
    );
}

#[test]
fn s04_what_becomes_of_a_tool_that_does_not_reply() {
    check(
        r#"
        tool p parallel
        start
        model p(1) p(2) p(3) p(4)
        1 lost
        2 panics
        3 fails
        4 unsent
        show results
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" p(1) p(2) p(3) p(4) | tool_call_planned p(1)
        | tool_call_planned p(2) | tool_call_planned p(3) | tool_call_planned p(4)
        | tool_call_started p(1) | -> p(1) | tool_call_started p(2) | -> p(2)
        | tool_call_started p(3) | -> p(3) | tool_call_started p(4) | -> p(4)
        > tool_result p(1) !tool_timeout
        > tool_result p(2) !tool_panicked
        > tool_result p(3) !HOST_DOWN
        > tool_result p(4) !BUSY | cycle_started after 6 messages | -> model 6 messages
        # tool result(1) "{\"ok\":false,\"error\":\"the tool ran out of time; it may have taken effect, verify before you repeat it\",\"error_code\":\"tool_timeout\",\"tool_name\":\"p\"}"
        | tool result(2) "{\"ok\":false,\"error\":\"the tool broke down at work; it may have taken effect, verify before you repeat it\",\"error_code\":\"tool_panicked\",\"tool_name\":\"p\"}"
        | tool result(3) "{\"ok\":false,\"error\":\"it does not answer; it may have taken effect, verify before you repeat it\",\"error_code\":\"HOST_DOWN\",\"tool_name\":\"p\"}"
        | tool result(4) "{\"ok\":false,\"error\":\"too many calls; it may be tried again; nothing was changed\",\"error_code\":\"BUSY\",\"tool_name\":\"p\"}"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant p(1) p(2) p(3) p(4) | tool result(1) !tool_timeout
        | tool result(2) !tool_panicked | tool result(3) !HOST_DOWN | tool result(4) !BUSY
        | assistant "done"
        "#,
    );
}

#[test]
fn s04_finish_ends_the_batch_and_completes() {
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        1 "one" finish meta {"final_message":"as metadata"}
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" finish | tool_result a(2) !skipped_due_to_finish
        | run_completed "as metadata"
        = completed "as metadata"
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_finish
        "#,
    );
    check(
        r#"
        tool a
        start
        model a(1)
        1 "{\"message\":\"as JSON\"}" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "{\"message\":\"as JSON\"}" finish | run_completed "as JSON"
        = completed "as JSON"
        = user "go" | assistant a(1) | tool result(1) "{\"message\":\"as JSON\"}"
        "#,
    );
    check(
        r#"
        tool a
        start
        model a(1)
        1 "as text" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "as text" finish | run_completed "as text"
        = completed "as text"
        = user "go" | assistant a(1) | tool result(1) "as text"
        "#,
    );
}

#[test]
fn s04_wait_ends_the_run_with_a_question() {
    check(
        r#"
        tool ask_user
        start
        model ask_user(1) ask_user(2)
        1 "asked" wait meta {"question":"which é?"}
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" ask_user(1) ask_user(2) | tool_call_planned ask_user(1)
        | tool_call_started ask_user(1) | -> ask_user(1)
        > tool_result ask_user(1) "asked" wait | tool_result ask_user(2) !skipped_due_to_wait_user
        | run_wait_user "which é?"
        = waits for "which é?"
        = user "go" | assistant ask_user(1) ask_user(2) | tool result(1) "asked"
        | tool result(2) !skipped_due_to_wait_user
        "#,
    );
    check(
        r#"
        tool a
        start
        model a(1)
        1 "which?" wait
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "which?" wait | run_wait_user "which?"
        = waits for "which?"
        = user "go" | assistant a(1) | tool result(1) "which?"
        "#,
    );
}

#[test]
fn s04_a_finish_amid_a_group_lets_what_runs_end() {
    check(
        r#"
        tool p parallel
        tool g parallel
        policy ask g
        start
        model p(1) g(2) p(3) p(4)
        3 "three" finish
        4 "four" wait
        1 "one"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" p(1) g(2) p(3) p(4) | tool_call_planned p(1)
        | tool_call_planned g(2) | tool_call_planned p(3) | tool_call_planned p(4)
        | tool_call_started p(1) | -> p(1) | approval_requested r-9 g {}
        | -> human g {} within 600000 ms | tool_call_started p(3) | -> p(3)
        | tool_call_started p(4) | -> p(4)
        > -x 10 withdraw | tool_result p(3) "three" finish
        | approval_resolved r-9 skipped_due_to_finish | tool_result g(2) !skipped_due_to_finish
        > tool_result p(4) "four" wait
        > tool_result p(1) "one" | run_completed "three"
        = completed "three"
        = user "go" | assistant p(1) g(2) p(3) p(4) | tool result(1) "one"
        | tool result(2) !skipped_due_to_finish | tool result(3) "three" | tool result(4) "four"
        "#,
    );
}

#[test]
fn s04_a_hook_may_turn_a_result_into_a_finish() {
    check(
        r#"
        tool a
        hook h after_tool_call
        start
        model a(1) a(2)
        1 "one"
        hook h gives "patched" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > -> hook h after a(1) "one"
        > tool_result a(1) "patched" finish | tool_result a(2) !skipped_due_to_finish
        | run_completed "patched"
        = completed "patched"
        = user "go" | assistant a(1) a(2) | tool result(1) "patched"
        | tool result(2) !skipped_due_to_finish
        "#,
    );
}

#[test]
fn s04_what_a_hook_gives_is_cut_where_it_is_longer_than_the_tool_may_be() {
    check(
        r#"
        tool a limit=10
        hook h after_tool_call
        start
        model a(1)
        1 "one"
        hook h gives "éééééééééééééééééééééééééééééééééééééééééééééééé"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -> hook h after a(1) "one"
        > tool_result a(1) "\n[cut in the middle: the output had 96 bytes; a hook gave it, the whole is not kept]\n"
        | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1)
        | tool result(1) "\n[cut in the middle: the output had 96 bytes; a hook gave it, the whole is not kept]\n"
        | assistant "done"
        "#,
    );
}

#[test]
fn s04_a_long_output_is_cut_in_the_middle_on_a_character_boundary() {
    use runtime_decision::wording::cut_middle;

    assert_eq!(cut_middle("short", 5, "lost"), "short");
    for limit in 0..200 {
        let text = "äö€𝄞".repeat(40);
        let cut = cut_middle(&text, limit, "lost");
        let note = "\n[cut in the middle: the output had 440 bytes; lost]\n";
        assert!(cut.contains(note), "{cut}");
        assert!(cut.len() <= limit.max(note.len()), "{limit}: {}", cut.len());
        let (head, tail) = cut.split_once(note).unwrap();
        assert!(text.starts_with(head) && text.ends_with(tail));
        let room = limit.saturating_sub(note.len());
        assert!(head.len() + tail.len() + 6 >= room, "{limit}: the cut wastes room");
    }
}

#[test]
fn s04_a_hook_that_changes_a_result_leaves_its_picture() {
    check(
        r#"
        tool a
        window 100000
        images
        hook h after_tool_call
        start
        model a(1)
        1 "one" image
        hook h gives "changed"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -> hook h after a(1) "one"
        > tool_result a(1) "changed" | cycle_started after 4 messages | -> model 4 messages
        # user "go" | assistant a(1) | tool result(1) "changed"
        | user "The picture that a gave:" image
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "changed"
        | user "The picture that a gave:" image | assistant "done"
        "#,
    );
}
