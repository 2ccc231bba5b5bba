//! That a digest is equal exactly when the content is.
//!
//! Knows nothing about what the texts say.

use runtime_ports::ResourceSnapshot;

use crate::{
    Proof,
    claim::{claim, equal},
    resources::{
        ResourceHarness, Texts,
        sample::{differ, load, loaded, texts},
    },
};

pub(crate) async fn the_digest_is_of_the_content(harness: &dyn ResourceHarness) -> Proof {
    for content in [Texts::default(), texts(&["be brief\n"], &[])] {
        let ResourceSnapshot { instructions, skills, digest } = loaded(harness, &content).await?;
        let is_hex = |letter: u8| matches!(letter, b'0'..=b'9' | b'a'..=b'f');
        let is_digest = digest.len() == 64 && digest.bytes().all(is_hex);
        claim(is_digest, || format!("{digest:?} is not lowercase hex of 32 bytes"))?;
        let expected = ResourceSnapshot::new(instructions, skills).digest;
        equal("the digest", &digest, &expected)?;
    }
    Ok(())
}

pub(crate) async fn equal_content_has_an_equal_digest(harness: &dyn ResourceHarness) -> Proof {
    for content in [Texts::default(), texts(&["be brief"], &[])] {
        let staged = harness.stage(content.clone()).await?;
        let first = load(&staged.session).await?.digest;
        equal("the digest of a second load", &load(&staged.session).await?.digest, &first)?;
        equal("the digest of a twin", &loaded(harness, &content).await?.digest, &first)?;
    }
    Ok(())
}

pub(crate) async fn another_instruction_has_another_digest(harness: &dyn ResourceHarness) -> Proof {
    let one = |text| texts(&[text], &[]);
    let contents = [Texts::default(), one("ab"), one("ba"), one("ab\n"), one("Ab"), one(" ab")];
    differ(harness, &contents).await
}

pub(crate) async fn another_skill_has_another_digest(harness: &dyn ResourceHarness) -> Proof {
    let contents = [
        texts(&["a"], &[]),
        texts(&[], &[("a", "a")]),
        texts(&[], &[("a", "b")]),
        texts(&[], &[("b", "a")]),
        texts(&["a"], &[("a", "a")]),
        texts(&["a"], &[("a", "a"), ("b", "a")]),
        texts(&["a"], &[("a", "b"), ("b", "a")]),
        texts(&["a"], &[("aa", "b"), ("b", "a")]),
        texts(&["a"], &[("a", "ab"), ("b", "a")]),
    ];
    differ(harness, &contents).await
}

pub(crate) async fn another_order_has_another_digest(harness: &dyn ResourceHarness) -> Proof {
    let instructions: [&[&str]; 6] =
        [&["ab", "c"], &["a", "bc"], &["c", "ab"], &["abc"], &["ab", "c", "c"], &["ab\nc"]];
    let contents = instructions.map(|instructions| texts(instructions, &[]));
    differ(harness, &contents).await
}

pub(crate) async fn a_changed_skill_changes_the_digest(harness: &dyn ResourceHarness) -> Proof {
    let first = texts(&["be brief"], &[("review", "read twice"), ("write", "plainly")]);
    let reworded = texts(&["be brief"], &[("review", "read thrice"), ("write", "plainly")]);
    let renamed = texts(&["be brief"], &[("revise", "read twice"), ("write", "plainly")]);
    let removed = texts(&["be brief"], &[("write", "plainly")]);
    let mut staged = harness.stage(first.clone()).await?;
    let before = load(&staged.session).await?.digest;
    for changed in [reworded, renamed, removed] {
        staged.author.rewrites(changed.clone()).await?;
        let digest = load(&staged.session).await?.digest;
        claim(digest != before, || format!("{changed:?} has the digest of {first:?}"))?;
        staged.author.rewrites(first.clone()).await?;
        equal("the digest of the first", &load(&staged.session).await?.digest, &before)?;
    }
    Ok(())
}
