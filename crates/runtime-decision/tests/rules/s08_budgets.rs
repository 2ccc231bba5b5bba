//! Decides whether what a run spends is reserved before and settled after (section 8).

use crate::notation::{check, happens};

#[test]
fn s08_without_a_budget_nothing_is_asked_and_what_was_spent_is_told_all_the_same() {
    check(
        r#"
        tool a
        price 2 1 3
        start
        model a(1) usage 10 5 cached 4
        1 "x"
        model "done" usage 20 5
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "x" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        # charged calls 2 tokens 40 uncached 26 cost 86 tools 1 | tokens 40 | uncached 6 or more
        | cost 66 or more
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "x" | assistant "done"
        "#,
    );
}

#[test]
fn s08_a_model_call_is_reserved_before_and_charged_after() {
    check(
        r#"
        budget tokens=900
        output 100
        start
        model "done" usage 7 3
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 105 uncached 5
        | -> model 1 messages within 100
        > charged calls 1 tokens 10 uncached 7 | cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
    check(
        r#"
        budget cost=9000 uncached=50 calls=2
        price 2 1 3
        output 100
        tool a
        start
        model a(1) usage 10 50 cached 4
        1 "x"
        model "done" cost 77 usage 20 1
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 111 uncached 11 cost 322
        | -> model 1 messages within 100
        > charged calls 1 tokens 60 uncached 6 cost 166 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | tool_result a(1) "x" | cycle_started after 3 messages
        | -> reserve calls 1 tokens 125 uncached 25 cost 350 | -> model 3 messages within 100
        > charged calls 1 tokens 21 uncached 20 cost 77 | cycle_llm_response "done"
        | run_completed "done"
        # charged calls 2 tokens 81 uncached 26 cost 243 tools 1 a 1 | tokens 81
        | uncached 6 or more | cost 243
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "x" | assistant "done"
        "#,
    );
}

#[test]
fn s08_where_nobody_says_how_long_an_answer_may_be_it_takes_a_share_of_the_window() {
    check(
        r#"
        budget tokens=100000
        start
        model "done" usage 5 1
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 255 uncached 5
        | -> model 1 messages within 250
        > charged calls 1 tokens 6 uncached 5 | cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
    check(
        r#"
        budget tokens=100000
        window 0
        start
        model "done" usage 5 1
        "#,
        r#"
        > cycle_started after 1 messages
        | -> reserve calls 1 tokens 16389 uncached 5, at least calls 1 tokens 517 uncached 5
        | -> model 1 messages within 16384
        > charged calls 1 tokens 6 uncached 5 | cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s08_a_call_that_is_not_paid_for_is_not_made() {
    check(
        r#"
        budget calls=1
        tool a
        start
        model a(1)
        1 "x"
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 261 uncached 11
        | -> model 1 messages within 250
        > charged calls 1 tokens 261 uncached 11 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | tool_result a(1) "x" | cycle_started after 3 messages
        | -> reserve calls 1 tokens 275 uncached 25 | budget_exhausted model_calls 1 of 1
        = budget_exhausted model_calls
        = user "go" | assistant a(1) | tool result(1) "x"
        "#,
    );
    check(
        r#"
        budget tokens=10
        start
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 255 uncached 5
        | budget_exhausted tokens 0 of 10
        = budget_exhausted tokens
        = user "go"
        "#,
    );
}

/// The budget is that of a run above, and another run below the same one used it up meanwhile.
#[test]
fn complaint_23_a_budget_that_others_used_up_ends_the_run_with_its_terminal_event() {
    check(
        r#"
        above tokens=400
        output 100
        tool a
        start
        model a(1) usage 10 20
        others use tokens=300
        1 "x"
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 111 uncached 11
        | -> model 1 messages within 100
        > charged calls 1 tokens 30 uncached 10 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | tool_result a(1) "x" | cycle_started after 3 messages
        | -> reserve calls 1 tokens 125 uncached 25 | budget_exhausted tokens 330 of 400
        = budget_exhausted tokens
        = user "go" | assistant a(1) | tool result(1) "x"
        "#,
    );
}

#[test]
fn s08_an_answer_is_as_long_as_it_is_paid_for() {
    check(
        r#"
        budget tokens=605
        window 10000
        window 10000
       output 4000
        start
        model cut "half" usage 5 600
        "#,
        r#"
        > cycle_started after 1 messages
        | -> reserve calls 1 tokens 4005 uncached 5, at least calls 1 tokens 517 uncached 5
        | -> model 1 messages within 600
        > charged calls 1 tokens 605 uncached 5 | cycle_llm_response "half"
        | budget_exhausted tokens 605 of 605
        = budget_exhausted tokens
        = user "go" | assistant "half"
        "#,
    );
    check(
        r#"
        budget cost=2000
        price 2 1 3
        window 10000
        output 4000
        start
        model cut "half" usage 5 660
        "#,
        r#"
        > cycle_started after 1 messages
        | -> reserve calls 1 tokens 4005 uncached 5 cost 12010, at least calls 1 tokens 517 uncached 5 cost 1546
        | -> model 1 messages within 663
        > charged calls 1 tokens 665 uncached 5 cost 1990 | cycle_llm_response "half"
        | budget_exhausted cost 1990 of 2000
        = budget_exhausted cost
        = user "go" | assistant "half"
        "#,
    );
    check(
        r#"
        budget tokens=6000
        output 700
        start
        model cut "half" usage 5 700
        "#,
        r#"
        > cycle_started after 1 messages
        | -> reserve calls 1 tokens 705 uncached 5, at least calls 1 tokens 517 uncached 5
        | -> model 1 messages within 700
        > charged calls 1 tokens 705 uncached 5 | cycle_llm_response "half"
        | run_failed model_output_limit
        = failed model_output_limit
        = user "go" | assistant "half"
        "#,
    );
}

#[test]
fn s08_an_unknown_usage_consumes_its_reservation() {
    check(
        r#"
        budget tokens=500
        output 200
        tool a
        start
        model a(1)
        1 "x"
        model "done" usage 3 4
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 211 uncached 11
        | -> model 1 messages within 200
        > charged calls 1 tokens 211 uncached 11 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | tool_result a(1) "x" | cycle_started after 3 messages
        | -> reserve calls 1 tokens 225 uncached 25 | -> model 3 messages within 200
        > charged calls 1 tokens 7 uncached 3 | cycle_llm_response "done" | run_completed "done"
        # charged calls 2 tokens 218 uncached 14 tools 1 a 1 | tokens 7 or more
        | uncached 0 or more | cost 0 or more
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "x" | assistant "done"
        "#,
    );
    check(
        r#"
        budget tokens=500
        output 200
        start
        model fails
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 205 uncached 5
        | -> model 1 messages within 200
        > charged calls 1 tokens 205 uncached 5 | run_failed model_failed
        # charged calls 1 tokens 205 uncached 5 | tokens 0 or more | uncached 0 or more
        | cost 0 or more
        = failed model_failed
        = user "go"
        "#,
    );
    check(
        r#"
        budget tokens=500
        output 200
        start
        model unsent
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 205 uncached 5
        | -> model 1 messages within 200
        > charged nothing | run_failed model_failed
        # charged nothing | tokens 0 | uncached 0 | cost 0
        = failed model_failed
        = user "go"
        "#,
    );
}

#[test]
fn s08_every_attempt_of_a_call_counts() {
    check(
        r#"
        budget calls=3
        output 200
        tool a
        start
        model a(1) tries 3 usage 3 4
        1 "x"
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 211 uncached 11
        | -> model 1 messages within 200
        > charged calls 3 tokens 429 uncached 25 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | tool_result a(1) "x" | cycle_started after 3 messages
        | -> reserve calls 1 tokens 225 uncached 25 | budget_exhausted model_calls 3 of 3
        = budget_exhausted model_calls
        = user "go" | assistant a(1) | tool result(1) "x"
        "#,
    );
    check(
        r#"
        budget calls=3 tokens=900
        output 200
        start
        model fails tries 2
        show spent
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 205 uncached 5
        | -> model 1 messages within 200
        > charged calls 2 tokens 410 uncached 10 | run_failed model_failed
        # charged calls 2 tokens 410 uncached 10 | tokens 0 or more | uncached 0 or more
        | cost 0 or more
        = failed model_failed
        = user "go"
        "#,
    );
}

#[test]
fn s08_more_than_was_granted_counts_and_stops_what_would_follow() {
    check(
        r#"
        budget tokens=500
        output 200
        tool a
        start
        model a(1) usage 9000 1
        1 "x"
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 211 uncached 11
        | -> model 1 messages within 200
        > charged calls 1 tokens 9001 uncached 9000 | cycle_llm_response "" a(1)
        | -> reserve tools 1 a 1 | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > charged tools 1 a 1 | tool_result a(1) "x" | cycle_started after 3 messages
        | -> reserve calls 1 tokens 225 uncached 25 | budget_exhausted tokens 9001 of 500
        = budget_exhausted tokens
        = user "go" | assistant a(1) | tool result(1) "x"
        "#,
    );
    check(
        r#"
        budget tokens=500
        output 200
        start
        model "done" usage 9000 1
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 205 uncached 5
        | -> model 1 messages within 200
        > charged calls 1 tokens 9001 uncached 9000 | cycle_llm_response "done"
        | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s08_a_limited_cost_needs_a_price() {
    let refused = r#"
        > run_failed budget_unpriced_model
        = failed budget_unpriced_model
        = user "go"
        "#;
    check("budget cost=9\nstart", refused);
    check("above cost=9\nstart", refused);
    check("task_budget cost=9\nhook h before_llm\nstart", refused);
}

#[test]
fn s08_the_tighter_of_two_budgets_holds() {
    check(
        r#"
        budget tokens=900
        task_budget tokens=100
        output 700
        start
        "#,
        r#"
        > cycle_started after 1 messages
        | -> reserve calls 1 tokens 705 uncached 5, at least calls 1 tokens 517 uncached 5
        | budget_exhausted tokens 0 of 100
        = budget_exhausted tokens
        = user "go"
        "#,
    );
}

#[test]
fn s08_cancelled_goes_before_budget_and_budget_before_finish() {
    check(
        r#"
        budget tokens=605
        window 10000
        window 10000
       output 4000
        start
        cancel
        model cut "half" usage 5 600
        "#,
        r#"
        > cycle_started after 1 messages
        | -> reserve calls 1 tokens 4005 uncached 5, at least calls 1 tokens 517 uncached 5
        | -> model 1 messages within 600
        > -x 3 interrupt
        > charged calls 1 tokens 605 uncached 5 | cycle_llm_response "half" | run_cancelled
        = cancelled
        = user "go" | assistant "half"
        "#,
    );
    check(
        r#"
        budget calls=1
        budgets wait
        start
        cancel
        "#,
        r#"
        > cycle_started after 1 messages | -> reserve calls 1 tokens 255 uncached 5
        > -x 2 withdraw | run_cancelled
        = cancelled
        = user "go"
        "#,
    );
}

#[test]
fn s08_a_summary_is_reserved_as_large_as_it_is_whatever_was_reported_of_a_request_with_tools() {
    let reserved = |usage: &str| {
        let told = happens(&format!(
            r#"
            budget tokens=900000
            sub_agent reader "reads"
            window 20000
            output 100
            tool a
            start
            model a(1) {usage}
            1 long(6000)
            model a(2)
            2 long(6000)
            model a(3)
            3 long(6000)
            cancel
            "#
        ));
        let rest = told.split("memory_compact_started").nth(1).expect("a compaction");
        let tokens = rest.split_whitespace().skip_while(|word| *word != "uncached").nth(1);
        tokens.expect("tokens").to_owned()
    };
    assert_eq!(reserved("usage 20 5"), reserved(""));
}
