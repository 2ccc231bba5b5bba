//! Decides whether what is reserved outlives a suspension and a lost process (section 8).

use crate::notation::{check, machine};

#[test]
fn s08_what_is_reserved_outlives_a_suspension() {
    check(
        r#"
        budget tools=2 calls=9
        tool g parallel
        tool a parallel
        policy ask g
        start
        model g(1) a(2)
        2 "x"
        suspend
        crash
        resume
        answer 1 approves
        1 "y"
        model a(3)
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 267 uncached 17
        | -> model 1 messages within 250
        > charged calls 1 tokens 267 uncached 17 | cycle_llm_response "" g(1) a(2)
        | -> reserve tools 2 a 1 g 1 | tool_call_planned g(1) | tool_call_planned a(2)
        | approval_requested r-7 g {} | -> human g {} within 600000 ms | tool_call_started a(2)
        | -> a(2)
        > tool_result a(2) "x"
        > -x 8 withdraw | run_suspended r-7
        > run_resumed | -> human g {} within 600000 ms
        > approval_resolved r-7 approved | tool_call_started g(1) | -> g(1)
        > charged tools 2 a 1 g 1 | tool_result g(1) "y" | cycle_started after 4 messages
        | -> reserve calls 1 tokens 291 uncached 41 | -> model 4 messages within 250
        > charged calls 1 tokens 291 uncached 41 | cycle_llm_response "" a(3)
        | -> reserve tools 1 a 1 | tool_result a(3) !skipped_due_to_budget
        | budget_exhausted tool_calls 2 of 2
        # charged calls 2 tokens 558 uncached 58 tools 2 a 1 g 1 | tokens 0 or more
        | uncached 0 or more | cost 0 or more
        = budget_exhausted tool_calls
        = user "go" | assistant g(1) a(2) | tool result(1) "y" | tool result(2) "x"
        | assistant a(3) | tool result(3) !skipped_due_to_budget
        "#,
    );
}

#[test]
fn s08_a_call_that_a_suspension_stopped_is_charged_and_paid_for_again() {
    check(
        r#"
        budget calls=2 tokens=9000
        output 100
        start
        suspend
        model halted
        crash
        resume
        model "done" usage 5 5
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 105 uncached 5
        | -> model 1 messages within 100
        > -x 3 settle
        > charged calls 1 tokens 105 uncached 5 | run_suspended
        > run_resumed | -> reserve calls 1 tokens 105 uncached 5 | -> model 1 messages within 100
        > charged calls 1 tokens 10 uncached 5 | cycle_llm_response "done" | run_completed "done"
        # charged calls 2 tokens 115 uncached 10 | tokens 10 or more | uncached 0 or more
        | cost 0 or more
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s08_what_was_in_flight_when_the_process_was_lost_is_charged_as_it_was_reserved() {
    check(
        r#"
        budget calls=2 tokens=900
        output 100
        start
        crash
        resume
        model "done" usage 5 5
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 105 uncached 5
        | -> model 1 messages within 100
        > charged calls 1 tokens 105 uncached 5 | run_resumed
        | -> reserve calls 1 tokens 105 uncached 5 | -> model 1 messages within 100
        > charged calls 1 tokens 10 uncached 5 | cycle_llm_response "done" | run_completed "done"
        # charged calls 2 tokens 115 uncached 10 | tokens 10 or more | uncached 0 or more
        | cost 0 or more
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
    check(
        r#"
        budget calls=1
        output 100
        start
        crash
        resume
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 105 uncached 5
        | -> model 1 messages within 100
        > charged calls 1 tokens 105 uncached 5 | run_resumed
        | -> reserve calls 1 tokens 105 uncached 5 | budget_exhausted model_calls 1 of 1
        = budget_exhausted model_calls
        = user "go"
        "#,
    );
}

#[test]
fn s08_a_tool_that_was_in_flight_when_the_process_was_lost_is_charged() {
    check(
        r#"
        budget tools=1
        tool a
        start
        model a(1)
        crash
        resume
        model a(2)
        show results
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 261 uncached 11
        | -> model 1 messages within 250
        > charged calls 1 tokens 261 uncached 11 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | run_resumed | tool_result a(1) !tool_outcome_unknown
        | cycle_started after 3 messages | -> reserve calls 1 tokens 319 uncached 69
        | -> model 3 messages within 250
        > charged calls 1 tokens 319 uncached 69 | cycle_llm_response "" a(2)
        | -> reserve tools 1 a 1 | tool_result a(2) !skipped_due_to_budget
        | budget_exhausted tool_calls 1 of 1
        # tool result(1) "{\"ok\":false,\"error\":\"the run was interrupted while the tool was at work; it may have taken effect, verify before you repeat it\",\"error_code\":\"tool_outcome_unknown\",\"tool_name\":\"a\"}"
        | tool result(2) "{\"ok\":false,\"error\":\"not run: a budget of the run is used up\",\"error_code\":\"skipped_due_to_budget\",\"tool_name\":\"a\"}"
        = budget_exhausted tool_calls
        = user "go" | assistant a(1) | tool result(1) !tool_outcome_unknown | assistant a(2)
        | tool result(2) !skipped_due_to_budget
        "#,
    );
}

#[test]
fn s08_what_is_spent_below_a_call_counts_before_its_result() {
    check(
        r#"
        budget tokens=900
        output 200
        tool a
        start
        model a(1) usage 10 5
        below tokens=700 calls=2 runs=1
        1 "x"
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 211 uncached 11
        | -> model 1 messages within 200
        > charged calls 1 tokens 15 uncached 10 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | tool_result a(1) "x" | cycle_started after 3 messages
        | -> reserve calls 1 tokens 225 uncached 25 | budget_exhausted tokens 715 of 900
        = budget_exhausted tokens
        = user "go" | assistant a(1) | tool result(1) "x"
        "#,
    );
}

#[test]
fn s08_what_is_spent_below_is_in_the_result_whatever_ends_the_run() {
    for end in ["model \"done\" usage 10 5", "model fails", "suspend\nmodel halted\ncancel"] {
        let run = machine(&format!("start\nbelow tokens=700 calls=2 runs=1\n{end}"));
        let spent = run.result().expect("a result").spent;
        let charged = &spent.charged;
        assert!(charged.tokens >= 700 && charged.model_calls >= 2, "{charged:?}");
        assert_eq!(charged.sub_tasks, 1);
    }
}
