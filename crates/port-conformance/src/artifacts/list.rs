//! Decides which scenarios the suite of artifact stores has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{ArtifactHarness, ArtifactNeed, scenarios};

/// Makes one test for each scenario of the suite of `ArtifactStore`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! artifact_conformance {
    ($harness:expr) => {
        $crate::__artifact_scenarios! { __scenario_tests { artifacts, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __artifact_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        the_digest_is_of_the_bytes [] "an artifact is named by the SHA-256 of its bytes"
        bytes_come_back_as_they_were [] "bytes of any value come back as they were put"
        empty_bytes_are_an_artifact [] "no bytes at all are an artifact like any other"
        large_bytes_come_back_whole [] "a mebibyte and a byte come back whole"
        putting_again_changes_nothing [] "putting the same bytes again is Ok, gives the same name and changes nothing"
        artifacts_do_not_mix [] "each name gives its own bytes, also where one artifact begins like another"

        a_part_is_counted_from_the_start [] "a range gives the bytes from its start up to, but without, its end"
        a_part_past_the_end_is_clipped [] "what a range asks for beyond the end is left out"
        a_part_beyond_the_end_is_empty [] "a range that begins at the end or after it gives no bytes, and is no failure"
        an_empty_part_is_empty [] "an empty range and one that ends before it begins give no bytes, and are no failure"
        pages_join_into_the_whole [] "parts of any size, one after the other, are the whole"
        an_unknown_digest_is_not_found [] "reading what was never put is NotFound, also where the range is empty"

        a_put_outlives_its_process [OutlivesItsProcess] "what was put is durable when put returns, also when it was there before"
        two_processes_see_one_store [Shared] "what one process puts the other reads"

        a_cancelled_put_keeps_nothing [] "a put under a cancelled operation is Canceled, not committed, and keeps nothing"
        a_late_put_keeps_nothing [] "a put after its deadline is Timeout, not committed, and keeps nothing"
        a_cancelled_read_gives_nothing [] "a read under a cancelled operation is Canceled, not committed"
        a_late_read_gives_nothing [] "a read after its deadline is Timeout, not committed"
        a_dropped_put_is_whole_or_absent [] "a put that was dropped is whole or absent, and putting the same bytes again is safe"
        an_interrupted_put_tells_the_truth [] "a put that a deadline ends is whole or absent, and absent when it says not committed"
        a_put_that_is_cancelled_tells_the_truth [] "a put that a cancellation ends is whole or absent, and absent when it says not committed"
        a_dropped_read_changes_nothing [] "a read that was dropped changes nothing for the next call"
        reads_at_once_agree [] "reads at once all give their part"
        puts_of_the_same_bytes_agree [] "the same bytes put at once are Ok for everybody, under one name"
        puts_at_once_are_all_kept [] "different bytes put at once are all kept"
    } };
}

crate::__artifact_scenarios! { __scenario_table { dyn ArtifactHarness, ArtifactNeed, scenarios } }
