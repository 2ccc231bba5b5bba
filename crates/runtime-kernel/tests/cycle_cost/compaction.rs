//! A compaction allocates in proportion to what is compacted, whatever a clock says.

use crate::{counting::Allocated, long_history::LongHistory};

/// What the compaction of so many messages allocates.
fn compacted(messages: usize) -> Allocated {
    let run = LongHistory::new(messages);
    let before = Allocated::so_far();
    let compacted = run.compact();
    let allocated = Allocated::so_far() - before;
    let levels: Vec<_> = compacted.levels.iter().map(|level| &**level).collect();
    assert_eq!(levels, ["micro", "summary"]);
    assert!(compacted.messages < messages, "nothing was covered");
    allocated
}

#[test]
fn ten_times_the_messages_allocate_ten_times_as_much() {
    let (few, many) = (compacted(1_000), compacted(10_000));
    println!("1,000 messages: {few:?}; 10,000 messages: {many:?}");
    assert!(many.times <= few.times * 11, "{few:?} {many:?}");
    assert!(many.bytes <= few.bytes * 12, "{few:?} {many:?}");
    // A dozen pieces of memory a message: what is sent to the summariser is written out once.
    assert!(many.times <= 12 * 10_000, "{many:?}");
}
