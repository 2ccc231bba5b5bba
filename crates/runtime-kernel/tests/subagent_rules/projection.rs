//! Rules 3, 6 and 10: what the context comes to, seen through the budgets that a host gets.

use runtime_kernel::{AuditEvent, ToolOutcome};

use crate::stage::{
    CONTEXT, Played, REPLACED, Stage, TASK, calling, estimate, removed, set, success,
};

/// Plays one call for each outcome and a last one, whose budget shows what they came to.
async fn after(outcomes: Vec<ToolOutcome>) -> Played {
    let tools = vec!["tool"; outcomes.len() + 1];
    let stage = Stage::new(calling(&tools).complete("done"));
    let stage = outcomes.into_iter().fold(stage, Stage::outcome);
    stage.outcome(ToolOutcome::success("last")).play().await
}

/// The sections between task and last call, each call text included.
async fn check(outcomes: Vec<ToolOutcome>, sections: &[&str]) {
    let played = after(outcomes).await;
    let expected = [&[CONTEXT, TASK], sections, &["call of tool"]].concat();
    assert_eq!(played.estimates().last(), Some(&estimate(&expected)), "{sections:?}");
}

const CALL: &str = "call of tool";

#[tokio::test]
async fn rule_03_the_input_is_the_context_then_the_task_without_empty_sections() {
    let mut stage = Stage::new(calling(&[]).complete("done"));
    stage.request.context = vec!["one".into(), String::new(), "two\nlines".into(), " ".into()];
    let played = stage.play().await;
    assert_eq!(
        played.intelligence.asked()[0].request.input,
        "one\n\ntwo\nlines\n\n \n\nWrite a note."
    );
    let mut stage = Stage::new(calling(&[]).complete("done"));
    (stage.request.context, stage.request.task) = (Vec::new(), "alone".into());
    assert_eq!(stage.play().await.intelligence.asked()[0].request.input, "alone");
}

#[tokio::test]
async fn rule_03_call_and_result_are_sections_and_states_follow_unless_shown() {
    check(vec![success("r", vec![set("a", "value")], &[])], &[CALL, "r", "value"]).await;
    check(vec![success("shows value", vec![set("a", "value")], &["a"])], &[CALL, "shows value"])
        .await;
    check(vec![success("", vec![set("a", "")], &[])], &[CALL]).await;
    check(vec![success("🦀äß", vec![], &[])], &[CALL, "🦀äß"]).await;
}

#[tokio::test]
async fn rule_06_an_update_replaces_and_turns_what_showed_it_into_the_marker() {
    let shows = success("shows a1", vec![set("a", "a1")], &["a"]);
    let updates = success("r2", vec![set("a", "a2")], &[]);
    check(vec![shows.clone(), updates], &[CALL, REPLACED, CALL, "r2", "a2"]).await;
    let shows_again = success("shows a2", vec![set("a", "a2")], &["a"]);
    check(vec![shows, shows_again], &[CALL, REPLACED, CALL, "shows a2"]).await;
}

#[tokio::test]
async fn rule_06_a_marker_displays_nothing_so_that_its_other_states_come_back() {
    let both = success("shows a and b", vec![set("a", "a1"), set("b", "b1")], &["a", "b"]);
    let update = success("r2", vec![set("a", "a2")], &[]);
    check(vec![both, update], &[CALL, REPLACED, CALL, "r2", "a2", "b1"]).await;
}

#[tokio::test]
async fn rule_06_a_removal_leaves_a_truthful_marker_and_no_value() {
    let shows = success("shows a1", vec![set("a", "a1")], &["a"]);
    let played = after(vec![shows, success("r2", vec![removed("a")], &[])]).await;
    let without_marker = estimate(&[CONTEXT, TASK, CALL, "", CALL, "r2", CALL]);
    let with_false_marker = estimate(&[CONTEXT, TASK, CALL, REPLACED, CALL, "r2", CALL]);
    let seen = *played.estimates().last().expect("a budget");
    assert!(seen > without_marker, "there is a marker");
    assert_ne!(seen, with_false_marker, "it does not say that the value is elsewhere");
}

#[tokio::test]
async fn rule_06_audited_results_are_never_rewritten() {
    let shows = success("shows a1", vec![set("a", "a1")], &["a"]);
    let played = after(vec![shows, success("r2", vec![set("a", "a2")], &[])]).await;
    let texts: Vec<&str> = played.results().iter().map(|(.., text)| *text).collect();
    assert_eq!(texts, ["shows a1", "r2", "last"]);
    let told: Vec<String> = played.answers().into_iter().map(|(_, text)| text).collect();
    assert_eq!(told, ["shows a1", "r2", "last"]);
}

#[tokio::test]
async fn rule_10_fits_state_foresees_the_replacement_with_its_markers_and_without_a_result() {
    let limit = estimate(&[CONTEXT, TASK]) + 150;
    let shows = success(&"v".repeat(200), vec![set("a", &"v".repeat(180))], &["a"]);
    let stage = Stage::new(calling(&["tool", "tool"]).complete("done")).max_input_tokens(limit);
    let played = stage.outcome(shows).outcome(ToolOutcome::success("last")).play().await;
    let budget = &played.host.budgets[1];
    for length in 0..800 {
        let text = "n".repeat(length);
        let replaced = estimate(&[CONTEXT, TASK, CALL, REPLACED, CALL, &text]);
        assert_eq!(budget.fits_state("a", text.as_str()), replaced <= limit, "a, {length}");
        let added = estimate(&[CONTEXT, TASK, CALL, &"v".repeat(200), CALL, &text]);
        assert_eq!(budget.fits_state("b", text.as_str()), added <= limit, "b, {length}");
    }
}

#[tokio::test]
async fn rule_10_a_budget_that_is_kept_stays_what_it_was() {
    let played = after(vec![
        success("r", vec![set("a", "value")], &[]),
        success("r", vec![set("a", "another value")], &[]),
    ])
    .await;
    let expected = [
        estimate(&[CONTEXT, TASK, CALL]),
        estimate(&[CONTEXT, TASK, CALL, "r", "value", CALL]),
        estimate(&[CONTEXT, TASK, CALL, "r", "another value", CALL, "r", CALL]),
    ];
    assert_eq!(played.estimates(), expected);
    assert!(matches!(played.host.events.last(), Some(AuditEvent::Completed { .. })));
}
