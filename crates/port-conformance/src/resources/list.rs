//! Decides which scenarios the suite of resources has.
//!
//! Knows nothing about how they are tried. This is the one list: the table and the tests of every
//! implementation come from it.

use super::{ResourceHarness, ResourceNeed, scenarios};

/// Makes one test for each scenario of the suite of `ResourceSession`.
///
/// The one argument is an expression for a harness; the crate page has a whole example.
#[macro_export]
macro_rules! resource_conformance {
    ($harness:expr) => {
        $crate::__resource_scenarios! { __scenario_tests { resources, $harness } }
    };
}

/// The list: name, needed capabilities, promise.
#[doc(hidden)]
#[macro_export]
macro_rules! __resource_scenarios {
    ($then:ident $with:tt) => { $crate::$then! { $with
        nothing_is_an_empty_snapshot [] "where nothing is written down, the snapshot is empty, and no failure"
        an_instruction_arrives_as_written [] "an instruction arrives as it was written, white space and odd characters included"
        a_long_instruction_arrives_whole [] "a quarter of a mebibyte arrives whole"
        instructions_keep_their_order [SeveralInstructions] "instructions arrive in their order, repetitions included"
        skills_arrive_by_name [Skills] "each skill arrives under its name, as it was written"
        many_and_long_skills_arrive_whole [Skills] "a hundred skills arrive, and one of a quarter of a mebibyte arrives whole"

        the_digest_is_of_the_content [] "the digest is the SHA-256 of instructions and skills, in lowercase hex"
        equal_content_has_an_equal_digest [] "equal content has an equal digest, in every load and every session"
        another_instruction_has_another_digest [] "instructions that differ by a character or by being there differ in their digest"
        another_skill_has_another_digest [Skills] "skills that differ in name, text or number differ in their digest, also from instructions"
        another_order_has_another_digest [SeveralInstructions] "instructions that differ in order or in where they end differ in their digest"

        changed_content_is_loaded [Changing] "the next load gives what was changed, with its digest, and what was changed back with the first"
        removed_content_is_gone [Changing Skills] "the next load gives nothing that was removed"
        a_changed_skill_changes_the_digest [Changing Skills] "a skill that was reworded, renamed or removed changes the digest, and what was changed back has the first"

        a_cancelled_load_gives_nothing [] "a load under a cancelled operation is Canceled, not committed"
        a_late_load_gives_nothing [] "a load after its deadline is Timeout, not committed"
        a_dropped_load_leaves_nothing [] "a load that was dropped changes nothing for the next one"
        loads_at_once_agree [] "loads at once all give the whole content"
    } };
}

crate::__resource_scenarios! { __scenario_table { dyn ResourceHarness, ResourceNeed, scenarios } }
