//! What the answers that real servers sent come to, line by line of a file that was read over.

use std::path::Path;

use wire_rehearsal::recorded;

use super::check;

#[test]
fn every_capture_has_the_outcome_that_was_read_over() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let (captures, list) = (fixtures.join("captures"), fixtures.join("captures-expected.txt"));
    recorded::check_all(&captures, &list, check);
}
