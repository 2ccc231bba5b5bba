//! Which response a request continues (E13).

use std::sync::Arc;

use runtime_ports::{ModelContent, ModelMessage, ModelRequest, ModelRole, ToolSet, Transcript};

use super::{Continued, Held, MOST_RESPONSES};

fn request(model: &str, messages: &Transcript) -> ModelRequest {
    ModelRequest {
        invocation_id: "i".into(),
        model: model.into(),
        messages: messages.clone(),
        tools: ToolSet::default(),
        max_output_tokens: None,
        options: Arc::default(),
    }
}

fn said(role: ModelRole, text: &str) -> ModelMessage {
    ModelMessage::text(role, text)
}

fn history(texts: &[&str]) -> Transcript {
    let roles = [ModelRole::User, ModelRole::Assistant];
    texts.iter().zip(roles.into_iter().cycle()).map(|(text, role)| said(role, text)).collect()
}

fn found(continued: &Continued, texts: &[&str]) -> Option<(String, usize)> {
    let found = continued.find(&request("m", &history(texts)))?;
    Some((found.response.id.to_string(), found.messages))
}

fn remember(continued: &Continued, texts: &[&str], answer: &str, id: &str) {
    let response = Held { id: id.into(), input_tokens: None };
    continued.remember(&request("m", &history(texts)), &[ModelContent::text(answer)], response);
}

#[test]
fn e13_the_longest_beginning_that_the_server_has_is_continued() {
    let continued = Continued::default();
    assert_eq!(found(&continued, &["q"]), None, "nothing is known");
    remember(&continued, &["q"], "a", "r1");
    remember(&continued, &["q", "a", "q2"], "a2", "r2");
    assert_eq!(found(&continued, &["q", "a", "q2", "a2", "q3"]), Some(("r2".into(), 4)));
    assert_eq!(found(&continued, &["q", "a", "other"]), Some(("r1".into(), 2)), "a branch");
    assert_eq!(found(&continued, &["q", "a"]), None, "nothing would be new");
    assert_eq!(found(&continued, &["q"]), None, "shorter than anything kept");
    assert_eq!(found(&continued, &["q", "A", "q2"]), None, "an answer that was changed");
    assert_eq!(found(&continued, &["Q", "a", "q2"]), None, "a question that was changed");
    let other = request("n", &history(&["q", "a", "q2"]));
    assert_eq!(continued.find(&other), None, "another model");
}

#[test]
fn e13_what_is_forgotten_is_sent_whole() {
    let continued = Continued::default();
    remember(&continued, &["q"], "a", "r1");
    let next = request("m", &history(&["q", "a", "q2"]));
    let found = continued.find(&next).expect("it is known");
    continued.forget(&found);
    assert_eq!(continued.find(&next), None);
}

#[test]
fn e13_many_new_messages_are_looked_through() {
    let continued = Continued::default();
    remember(&continued, &["q"], "a", "r1");
    let mut messages = history(&["q", "a"]);
    for number in 0..300 {
        messages.push(said(ModelRole::Tool, &number.to_string()));
    }
    let found = continued.find(&request("m", &messages)).expect("it is known");
    assert_eq!((&*found.response.id, found.messages), ("r1", 2));
}

#[test]
fn e13_the_table_is_bounded_and_the_oldest_goes_first() {
    let continued = Continued::default();
    for number in 0..=MOST_RESPONSES {
        remember(&continued, &[&number.to_string()], "a", &number.to_string());
    }
    assert_eq!(found(&continued, &["0", "a", "q"]), None);
    assert_eq!(found(&continued, &["1", "a", "q"]), Some(("1".into(), 2)));
    assert_eq!(continued.responses().held.len(), MOST_RESPONSES);
}
