//! Decides whether a conversation is read from its end and appended to once per operation.

use runtime_ports::{ConversationMessage, ConversationSession, ModelRole, PortFailureKind};

use super::{kind_of, operation};
use crate::FakeConversation;

fn said(text: &str) -> ConversationMessage {
    ConversationMessage { role: ModelRole::User, text: text.to_owned() }
}

#[tokio::test]
async fn the_newest_messages_come_oldest_first() {
    let conversation = FakeConversation::new([said("a"), said("b")]);
    conversation.append(&operation("op"), &[said("c"), said("d")]).await.unwrap();
    for (limit, expected) in [(0, ""), (1, "d"), (3, "bcd"), (9, "abcd"), (usize::MAX, "abcd")] {
        let newest = conversation.load_recent(&operation("read"), limit).await.unwrap();
        let texts: String = newest.into_iter().map(|message| message.text).collect();
        assert_eq!(texts, expected, "limit {limit}");
    }
}

#[tokio::test]
async fn an_operation_appends_once() {
    let conversation = FakeConversation::default();
    assert_eq!(conversation.append(&operation("one"), &[said("a")]).await, Ok(()));
    assert_eq!(conversation.append(&operation("one"), &[said("a")]).await, Ok(()));
    let other = conversation.append(&operation("one"), &[said("b")]).await;
    assert_eq!(kind_of(other), PortFailureKind::Conflict);
    assert_eq!(conversation.append(&operation("two"), &[said("a")]).await, Ok(()));
    assert_eq!(conversation.messages(), [said("a"), said("a")]);
}
