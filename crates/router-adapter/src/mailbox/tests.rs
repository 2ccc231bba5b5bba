//! Holds the mailbox to losing nothing, keeping order and staying bounded.

use std::{sync::Arc, time::Duration};

use proptest::prelude::*;

use super::{Mailbox, Merge, Poster, ROOM};

/// Text of a kind; kind 0 never merges.
#[derive(Debug, Clone, PartialEq)]
struct Piece(u8, String);

impl Merge for Piece {
    type Kind = u8;

    fn kind(&self) -> Option<u8> {
        (self.0 != 0).then_some(self.0)
    }

    fn absorb(&mut self, newer: Self) {
        self.1.push_str(&newer.1);
    }
}

fn piece(kind: u8, text: impl ToString) -> Piece {
    Piece(kind, text.to_string())
}

async fn read(mailbox: &Mailbox<Piece>, number: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for _ in 0..number {
        pieces.extend(mailbox.next().await);
    }
    pieces
}

fn unread(mailbox: &Mailbox<Piece>) -> usize {
    mailbox.lock().unread.len()
}

#[tokio::test]
async fn while_there_is_room_pieces_stay_apart() {
    let mailbox = Mailbox::new();
    let pieces = [piece(1, "a"), piece(1, "b"), piece(0, "c")];
    pieces.iter().cloned().for_each(|piece| mailbox.post(piece));
    assert_eq!(read(&mailbox, 3).await, pieces);
}

#[tokio::test]
async fn what_does_not_fit_joins_the_newest_of_its_kind() {
    let mailbox = Mailbox::new();
    (0..ROOM - 1).for_each(|_| mailbox.post(piece(1, "a")));
    mailbox.post(piece(2, "r"));
    for text in ["b", "c"] {
        mailbox.post(piece(1, text));
        mailbox.post(piece(2, text));
    }
    mailbox.post(piece(0, "call"));
    let pieces = read(&mailbox, ROOM + 1).await;
    assert_eq!(pieces[ROOM - 2..], [piece(1, "abc"), piece(2, "rbc"), piece(0, "call")]);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_wait_loses_nothing() {
    let mailbox = Arc::new(Mailbox::new());
    for _ in 0..3 {
        let wait = tokio::time::timeout(Duration::from_millis(1), mailbox.next());
        assert!(wait.await.is_err());
    }
    let poster = Arc::clone(&mailbox);
    tokio::spawn(async move { poster.post(piece(0, "late")) });
    assert_eq!(mailbox.next().await, Some(piece(0, "late")));
}

#[tokio::test]
async fn the_reader_ends_when_the_poster_does() {
    let mailbox = Arc::new(Mailbox::new());
    let poster = Poster::new(Arc::clone(&mailbox));
    poster.post(piece(0, "last"));
    drop(poster);
    assert_eq!(mailbox.next().await, Some(piece(0, "last")));
    assert_eq!(mailbox.next().await, None);
    assert_eq!(mailbox.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn the_poster_learns_when_the_reader_asks_in_vain() {
    let mailbox = Arc::new(Mailbox::new());
    let asked = || tokio::time::timeout(Duration::from_millis(1), mailbox.asked_in_vain());
    mailbox.post(piece(0, "a"));
    assert!(asked().await.is_err(), "nothing was read");
    mailbox.next().await;
    assert!(asked().await.is_err(), "read, but nothing more was asked for");
    let reader = Arc::clone(&mailbox);
    let reading = tokio::spawn(async move { reader.next().await });
    assert!(asked().await.is_ok());
    mailbox.post(piece(0, "b"));
    assert_eq!(reading.await.unwrap(), Some(piece(0, "b")));
    assert!(asked().await.is_err(), "that question was answered");
}

#[tokio::test]
async fn unread_items_can_be_taken_back() {
    let mailbox = Mailbox::new();
    [piece(1, "a"), piece(0, "b"), piece(2, "c")].into_iter().for_each(|piece| mailbox.post(piece));
    mailbox.retain(|piece| piece.0 == 0);
    assert_eq!((read(&mailbox, 1).await, unread(&mailbox)), (vec![piece(0, "b")], 0));
}

proptest! {
    #[test]
    fn every_kind_arrives_whole_and_in_order_and_few_wait(
        kinds in proptest::collection::vec(1u8..4, 0..400),
    ) {
        let mailbox = Mailbox::new();
        for (number, kind) in kinds.iter().enumerate() {
            mailbox.post(piece(*kind, format!("{number},")));
        }
        prop_assert!(unread(&mailbox) <= ROOM + 3);
        let mut texts = [String::new(), String::new(), String::new(), String::new()];
        while let super::Taken::Item(piece) = mailbox.lock().take() {
            texts[usize::from(piece.0)].push_str(&piece.1);
        }
        for kind in 1..4u8 {
            let posted = kinds.iter().enumerate().filter(|(_, posted)| **posted == kind);
            let expected: String = posted.map(|(number, _)| format!("{number},")).collect();
            prop_assert_eq!(&texts[usize::from(kind)], &expected);
        }
    }
}
