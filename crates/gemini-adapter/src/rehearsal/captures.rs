//! What the answers of the vendor's documentation come to, line by line of a file that was read
//! over.

use std::path::Path;

use wire_rehearsal::recorded;

use super::check;

#[test]
fn every_fixture_has_the_outcome_that_was_read_over() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    recorded::check_all(&fixtures, &fixtures.join("expected.txt"), check);
}
