//! Decides whether a history from elsewhere is made whole without losing a word.

use proptest::prelude::*;
use runtime_decision::repaired;
use runtime_ports::{ModelContent, ModelMessage, ModelRole};
use serde_json::json;

use crate::{
    notation::{said, shown},
    random::assert_paired,
};

#[track_caller]
fn repairs(history: &str, expected: &str) {
    let trimmed = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    let messages = trimmed(history).iter().map(|line| said(line)).collect();
    let actual: Vec<_> = repaired(messages).iter().map(shown).collect();
    assert_eq!(actual, trimmed(expected));
}

#[test]
fn a_whole_history_stays_as_it_is() {
    let whole = r#"
        system "be kind"
        user "go"
        assistant "hm" a(1) a(2)
        tool result(1) "one"
        tool result(2) "two"
        assistant "done"
    "#;
    repairs(&whole.replace("result(1) ", "result(1)").replace("result(2) ", "result(2)"), whole);
}

#[test]
fn an_unanswered_call_says_that_it_may_have_run() {
    repairs(
        r#"
        assistant a(1) a(2) a(3)
        tool result(2)"two"
        user "go on"
        "#,
        r#"
        assistant a(1) a(2) a(3)
        tool result(1) !tool_outcome_unknown
        tool result(2) "two"
        tool result(3) !tool_outcome_unknown
        user "go on"
        "#,
    );
}

#[test]
fn results_are_put_into_call_order_and_next_to_their_call() {
    repairs(
        r#"
        assistant a(1) a(2)
        user "meanwhile"
        tool result(2)"two" result(1)"one"
        "#,
        r#"
        assistant a(1) a(2)
        tool result(1) "one"
        tool result(2) "two"
        user "meanwhile"
        "#,
    );
}

#[test]
fn a_result_of_no_call_becomes_text() {
    repairs(
        r#"
        user "go"
        tool result(9)"nobody's"
        assistant a(1)
        tool result(1)"one"
        tool result(1)"again"
        "#,
        r#"
        user "go"
        user "[The result of a call of old (9) that is not in this history:]\nnobody's"
        assistant a(1)
        tool result(1) "one"
        user "[The result of a call of old (1) that is not in this history:]\nagain"
        "#,
    );
}

#[test]
fn a_result_beside_its_own_call_is_put_behind_it() {
    repairs(
        r#"
        assistant a(1) result(1)"one" result(7)"seven" " "
        "#,
        r#"
        assistant a(1) "[The result of a call of old (7) that is not in this history:]\nseven"
        tool result(1) "one"
        "#,
    );
}

#[test]
fn two_calls_under_one_id_have_a_result_each() {
    repairs(
        r#"
        assistant a(1) a(1)
        tool result(1)"one"
        tool result(1)"two"
        tool result(1)"three"
        "#,
        r#"
        assistant a(1) a(1)
        tool result(1) "one"
        tool result(1) "two"
        user "[The result of a call of old (1) that is not in this history:]\nthree"
        "#,
    );
}

#[test]
fn blank_messages_say_that_they_are() {
    repairs(
        r#"
        user ""
        assistant
        tool "said by a tool"
        assistant " " a(1)
        "#,
        r#"
        user "(blank)"
        assistant "(blank)"
        user "said by a tool"
        assistant a(1)
        tool result(1) !tool_outcome_unknown
        "#,
    );
}

fn content() -> impl Strategy<Value = ModelContent> {
    let id = "[1-4]";
    prop_oneof![
        3 => "[ a-zé]{0,4}".prop_map(ModelContent::text),
        3 => id.prop_map(|id| ModelContent::ToolUse {
            id,
            name: "a".to_owned(),
            arguments: json!({}),
        }),
        4 => (id, "[ a-zé]{0,4}").prop_map(|(tool_use_id, content)| ModelContent::ToolResult {
            tool_use_id,
            name: "a".to_owned(),
            content,
            failed: false,
        }),
        1 => Just(ModelContent::Reasoning {
            issuer: "i".to_owned(),
            text: String::new(),
            opaque: json!(null),
        }),
    ]
}

fn message() -> impl Strategy<Value = ModelMessage> {
    let role = prop_oneof![
        Just(ModelRole::System),
        Just(ModelRole::User),
        Just(ModelRole::Assistant),
        Just(ModelRole::Tool),
    ];
    let content = proptest::collection::vec(content(), 0..5);
    (role, content).prop_map(|(role, content)| ModelMessage { role, content })
}

/// Everything that was said, in no order.
fn words(messages: &[ModelMessage]) -> Vec<String> {
    let items = messages.iter().flat_map(|message| &message.content);
    let mut words: Vec<_> = items
        .filter_map(|item| match item {
            ModelContent::Text { text } => {
                let noted = text.strip_prefix("[The result of a call").is_some();
                let said = text.split_once('\n').filter(|_| noted).map_or(&**text, |it| it.1);
                Some(said.trim().to_owned())
            }
            ModelContent::ToolUse { id, .. } => Some(format!("call {id}")),
            ModelContent::ToolResult { content, .. } => Some(content.trim().to_owned()),
            ModelContent::Reasoning { .. } | ModelContent::Image { .. } => None,
        })
        .filter(|text| !text.is_empty())
        .collect();
    words.sort();
    words
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_history_becomes_whole_and_loses_nothing(
        messages in proptest::collection::vec(message(), 0..10),
    ) {
        let said = words(&messages);
        let once = repaired(messages);
        assert_paired(once.iter());
        let mut kept = words(&once);
        for word in said {
            let place = kept.iter().position(|it| *it == word);
            prop_assert!(place.is_some(), "{:?} is lost", word);
            kept.remove(place.expect("a place"));
        }
        prop_assert_eq!(repaired(once.clone()), once);
    }
}
