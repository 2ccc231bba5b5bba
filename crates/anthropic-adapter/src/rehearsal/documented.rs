//! What the examples of the vendor's public documentation come to, line by line of a file that was
//! read over. Each fixture begins with a comment that names its page.

use std::path::Path;

use wire_rehearsal::recorded;

use super::check;

#[test]
fn every_documented_answer_has_the_outcome_that_was_read_over() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/documented");
    recorded::check_all(&folder, &folder.join("expected.txt"), check);
}
