//! Decides whether the cases hold that must hold (section 12).

use crate::notation::check;

#[test]
fn s12_cancelled_before_the_start_no_model_is_called() {
    check(
        r#"
        cancel
        start alone
        "#,
        r#"
        > run_cancelled
        > !! the run has ended; start another
        = cancelled
        = user "go"
        "#,
    );
}

#[test]
fn s12_cancelled_twice_things_are_told_once() {
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        cancel
        cancel
        time
        1 halted
        cancel
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > -x 5 interrupt
        > tool_result a(1) !tool_cancelled | tool_result a(2) !skipped_due_to_cancel
        | run_cancelled
        > !! the run has ended; start another
        = cancelled
        = user "go" | assistant a(1) a(2) | tool result(1) !tool_cancelled
        | tool result(2) !skipped_due_to_cancel
        "#,
    );
}

#[test]
fn s12_finish_in_a_batch_of_several_skips_the_rest() {
    check(
        r#"
        tool a
        start
        model a(1) a(2) a(3)
        1 "one"
        2 "two" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) a(3) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | tool_call_planned a(2) | tool_call_started a(2) | -> a(2)
        > tool_result a(2) "two" finish | tool_result a(3) !skipped_due_to_finish
        | run_completed "two"
        = completed "two"
        = user "go" | assistant a(1) a(2) a(3) | tool result(1) "one" | tool result(2) "two"
        | tool result(3) !skipped_due_to_finish
        "#,
    );
}

#[test]
fn s12_of_two_questions_the_first_wins() {
    check(
        r#"
        tool ask_user parallel
        start
        model ask_user(1) ask_user(2)
        2 "second?" wait
        1 "first?" wait
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" ask_user(1) ask_user(2) | tool_call_planned ask_user(1)
        | tool_call_planned ask_user(2) | tool_call_started ask_user(1) | -> ask_user(1)
        | tool_call_started ask_user(2) | -> ask_user(2)
        > tool_result ask_user(2) "second?" wait
        > tool_result ask_user(1) "first?" wait | run_wait_user "first?"
        = waits for "first?"
        = user "go" | assistant ask_user(1) ask_user(2) | tool result(1) "first?"
        | tool result(2) "second?"
        "#,
    );
}

#[test]
fn s12_steering_after_the_first_of_two_tools_skips_the_second() {
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        steer "stop"
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | session_steer_interrupt after 1 "stop"
        | tool_result a(2) !skipped_due_to_steering | run_steered after 1 prompts 1 steering 1
        | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one"
        | tool result(2) !skipped_due_to_steering | user "stop" | assistant "done"
        "#,
    );
}

#[test]
fn s12_a_hook_that_finishes_completes_with_its_text() {
    check(
        r#"
        tool a
        hook h after_tool_call
        start
        model a(1)
        1 "raw"
        hook h gives "patched" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -> hook h after a(1) "raw"
        > tool_result a(1) "patched" finish | run_completed "patched"
        = completed "patched"
        = user "go" | assistant a(1) | tool result(1) "patched"
        "#,
    );
}

#[test]
fn s12_state_that_a_tool_wrote_is_seen_by_the_next_and_returned() {
    check(
        r#"
        tool a
        start
        model a(1) a(2)
        1 "one" state {"k":"é"}
        2 "two"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | tool_call_planned a(2) | tool_call_started a(2)
        | -> a(2) state {"k":"é"}
        > tool_result a(2) "two" | cycle_started after 4 messages | -> model 4 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one" | tool result(2) "two"
        | assistant "done"
        = state {"k":"é"}
        "#,
    );
}

#[test]
fn s12_one_call_id_in_two_turns_makes_two_exchanges() {
    check(
        r#"
        tool a
        start
        model a(1)
        1 "one"
        model a(1)
        1 "two"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "two" | cycle_started after 5 messages | -> model 5 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant a(1)
        | tool result(1) "two" | assistant "done"
        "#,
    );
}

#[test]
fn s12_a_damaged_history_is_repaired_in_place() {
    check(
        r#"
        said user "erase it"
        said assistant "" a(1) a(2) a(3)
        said tool result(2)"two"
        said tool result(9)"of nobody"
        said user " "
        said assistant
        start
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 9 messages | -> model 9 messages
        # user "erase it" | assistant a(1) a(2) a(3) | tool result(1) !tool_outcome_unknown
        | tool result(2) "two" | tool result(3) !tool_outcome_unknown
        | user "[The result of a call of old (9) that is not in this history:]\nof nobody"
        | user "(blank)" | assistant "(blank)" | user "go"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "erase it" | assistant a(1) a(2) a(3) | tool result(1) !tool_outcome_unknown
        | tool result(2) "two" | tool result(3) !tool_outcome_unknown
        | user "[The result of a call of old (9) that is not in this history:]\nof nobody"
        | user "(blank)" | assistant "(blank)" | user "go" | assistant "done"
        "#,
    );
}

#[test]
fn s12_multi_byte_text_everywhere() {
    check(
        r#"
        tool åä parallel limit=40
        instructions "日本語"
        prompt "€uro 𝄞"
        hook h after_tool_call
        start
        steer "ждать"
        model "ответ" åä(ключ){"é":"𝄞"}
        ключ error ошибка "нет"
        hook h gives "日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語" error ошибка
        store
        model "готово"
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        > cycle_llm_response "ответ" åä(ключ){"é":"𝄞"} | tool_call_planned åä(ключ){"é":"𝄞"}
        | tool_call_started åä(ключ){"é":"𝄞"} | -> åä(ключ){"é":"𝄞"}
        > -> hook h after åä(ключ) !ошибка
        > tool_result åä(ключ) !ошибка | session_steer_interrupt after ключ "ждать"
        | run_steered after ключ prompts 1 steering 1 | cycle_started after 5 messages
        | -> model 5 messages
        > cycle_llm_response "готово" | run_completed "готово"
        = completed "готово"
        = system "日本語" | user "€uro 𝄞" | assistant "ответ" åä(ключ){"é":"𝄞"}
        | tool result(ключ) !ошибка | user "ждать" | assistant "готово"
        "#,
    );
}
