//! Decides how long it takes to open many records. Prints the figure; a debug build takes fewer.
//!
//! `cargo test --release -p file-adapter speed -- --nocapture`

use std::time::Instant;

use runtime_ports::ReceiptStore;

use super::sample::{empty_folder, line, note, open, operation, put_bytes, settle, store};

const TURNS: u64 = if cfg!(debug_assertions) { 2_500 } else { 25_000 };

#[tokio::test]
async fn opening_reads_every_record() {
    let folder = empty_folder();
    let turns =
        (0..TURNS).flat_map(|turn| [open(turn), note(turn, 0), note(turn, 1), settle(turn)]);
    let lines: String = turns.map(line).collect();
    put_bytes(folder.path(), &lines);
    let started = Instant::now();
    let store = store(folder.path());
    let opening = started.elapsed();
    let started = Instant::now();
    let listed = store.list(&operation(), None, usize::MAX).await.unwrap().len() as u64;
    let listing = started.elapsed();
    assert_eq!((listed, store.damage().len()), (TURNS, 0));
    let (records, megabytes) = (4 * TURNS, lines.len() >> 20);
    println!("{records} records, {megabytes} MiB: opened in {opening:?}, listed in {listing:?}");
}
