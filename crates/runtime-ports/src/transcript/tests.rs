//! Decides whether a transcript shares what it should: its layout, which no caller can see.

use std::{iter::successors, sync::Arc, thread};

use super::{CHUNK_ENTRIES, Chunk, Transcript};
use crate::{ModelMessage, ModelRole, TranscriptEntry};

fn entry() -> Arc<TranscriptEntry> {
    Arc::new(TranscriptEntry::new(ModelMessage::text(ModelRole::User, "")))
}

/// The addresses of the sealed chunks, newest first.
fn chunks(transcript: &Transcript) -> Vec<*const Chunk> {
    let newest = transcript.sealed.as_ref();
    successors(newest, |chunk| chunk.previous.as_ref()).map(Arc::as_ptr).collect()
}

#[test]
fn a_push_copies_at_most_a_tail_also_while_older_clones_live() {
    let (entry, mut history, mut clones) = (entry(), Transcript::new(), Vec::new());
    for _ in 0..1_000 {
        let clone = history.clone();
        assert!(Arc::ptr_eq(&clone.tail, &history.tail));
        history.push_entry(Arc::clone(&entry));
        assert!(history.tail.len() <= CHUNK_ENTRIES);
        let (older, newer) = (chunks(&clone), chunks(&history));
        assert!(newer.ends_with(&older), "a sealed chunk was copied");
        assert!(newer.len() <= older.len() + 1);
        clones.push(clone);
    }
    assert_eq!(chunks(&history).len(), (1_000 - 1) / CHUNK_ENTRIES);
}

#[test]
fn a_push_without_clones_copies_nothing() {
    let (entry, mut history) = (entry(), Transcript::new());
    history.push_entry(Arc::clone(&entry));
    for _ in 1..CHUNK_ENTRIES {
        let tail = Arc::as_ptr(&history.tail);
        history.push_entry(Arc::clone(&entry));
        assert_eq!(Arc::as_ptr(&history.tail), tail);
    }
    assert_eq!(Arc::strong_count(&entry), CHUNK_ENTRIES + 1);
}

#[test]
fn a_prefix_shares_every_whole_chunk() {
    let entry = entry();
    let mut history = Transcript::new();
    (0..1_000).for_each(|_| history.push_entry(Arc::clone(&entry)));
    let all = chunks(&history);
    for len in [0, 1, 31, 32, 33, 500, 992, 999] {
        let shared = chunks(&history.prefix(len));
        assert!(all.ends_with(&shared), "{len}");
        assert_eq!(shared.len(), len / CHUNK_ENTRIES, "{len}");
    }
}

#[test]
fn a_history_of_a_million_messages_is_dropped_on_a_small_stack() {
    let work = || {
        let (entry, mut history) = (entry(), Transcript::new());
        (0..1_000_000).for_each(|_| history.push_entry(Arc::clone(&entry)));
        let clone = history.prefix(999_000);
        drop(history);
        assert_eq!(clone.len(), 999_000);
        drop(clone);
        assert_eq!(Arc::strong_count(&entry), 1);
    };
    let small = thread::Builder::new().stack_size(128 * 1024);
    small.spawn(work).unwrap().join().unwrap();
}
