//! Decides whether an entry keeps one encoding, for the adapter that made it last.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{EncodingKey, ModelMessage, ModelRole, Transcript, TranscriptEntry};

fn entry() -> TranscriptEntry {
    TranscriptEntry::new(ModelMessage::text(ModelRole::User, "hello"))
}

#[test]
fn an_encoding_is_made_once_for_a_key() {
    let (entry, key) = (entry(), EncodingKey::new("adapter", "chat"));
    let first = entry.encoding(&key, |_| b"chat".to_vec());
    let same_key = EncodingKey::new("adapter", "chat");
    let second = entry.encoding(&same_key, |_| unreachable!("encoded twice"));
    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn another_key_takes_the_slot_over() {
    let entry = entry();
    let (chat, responses) =
        (EncodingKey::new("adapter", "chat"), EncodingKey::new("adapter", "responses"));
    assert_eq!(&*entry.encoding(&chat, |_| b"1".to_vec()), b"1");
    assert_eq!(&*entry.encoding(&responses, |_| b"2".to_vec()), b"2");
    assert_eq!(&*entry.encoding(&responses, |_| b"3".to_vec()), b"2");
    assert_eq!(&*entry.encoding(&chat, |_| b"4".to_vec()), b"4");
}

#[test]
fn adapter_and_profile_are_told_apart() {
    assert_ne!(EncodingKey::new("a", "b/c"), EncodingKey::new("a/b", "c"));
}

#[test]
fn a_transcript_forgets_encodings_with_its_clones() {
    let history = Transcript::from(vec![ModelMessage::text(ModelRole::User, "hello")]);
    let clone = history.clone();
    let key = EncodingKey::new("adapter", "chat");
    let encoded = |transcript: &Transcript, bytes: &'static [u8]| {
        transcript.encodings(&key, |_| bytes.to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(&*encoded(&history, b"1")[0], b"1");
    assert_eq!(&*encoded(&clone, b"2")[0], b"1");
    clone.forget_encodings();
    assert_eq!(&*encoded(&history, b"3")[0], b"3");
}

#[test]
fn an_encoder_that_panics_leaves_the_slot_usable() {
    let (entry, key) = (entry(), EncodingKey::new("adapter", "chat"));
    let panics = || entry.encoding(&key, |_| panic!("no encoding"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(&*entry.encoding(&key, |_| b"1".to_vec()), b"1");
}
