//! Which texts a load gives: those that are written down now, as they were written.
//!
//! Knows nothing about digests beyond that they follow the content.

use crate::{
    Proof,
    claim::{claim, equal},
    resources::{
        ResourceHarness, Texts,
        sample::{load, loaded, snapshot, texts},
    },
};

/// A session over these texts gives them.
async fn arrive(harness: &dyn ResourceHarness, texts: &Texts) -> Proof {
    equal("the snapshot", &loaded(harness, texts).await?, &snapshot(texts))
}

pub(crate) async fn nothing_is_an_empty_snapshot(harness: &dyn ResourceHarness) -> Proof {
    arrive(harness, &Texts::default()).await
}

pub(crate) async fn an_instruction_arrives_as_written(harness: &dyn ResourceHarness) -> Proof {
    let odd = "  be \"brief\"\r\n\n\t\\n – na\u{ef}ve \u{1F980} {{x}} <b>\u{0}\n\n";
    for text in ["be brief", odd, "\u{FEFF}marked", "no end of line", "\n"] {
        arrive(harness, &texts(&[text], &[])).await?;
    }
    Ok(())
}

pub(crate) async fn a_long_instruction_arrives_whole(harness: &dyn ResourceHarness) -> Proof {
    let long = "sixteen letters\n".repeat(16 * 1_024);
    let loaded = loaded(harness, &texts(&[&long], &[])).await?;
    let lengths: Vec<_> = loaded.instructions.iter().map(String::len).collect();
    equal("the lengths", &lengths, &vec![long.len()])?;
    claim(loaded.instructions == [long], || "the long text is another one".into())
}

pub(crate) async fn instructions_keep_their_order(harness: &dyn ResourceHarness) -> Proof {
    let order = ["then this", "at first", "then this", "z", "a", "10", "9"];
    arrive(harness, &texts(&order, &[])).await
}

pub(crate) async fn skills_arrive_by_name(harness: &dyn ResourceHarness) -> Proof {
    let skills =
        [("review", "read twice\n"), ("a-b", "  indented"), ("Z", "review"), ("a", "a\n\nb")];
    arrive(harness, &texts(&["be brief"], &skills)).await?;
    arrive(harness, &texts(&[], &skills[..1])).await
}

pub(crate) async fn many_and_long_skills_arrive_whole(harness: &dyn ResourceHarness) -> Proof {
    let letter = |number: usize| char::from(b'a' + u8::try_from(number % 26).unwrap_or_default());
    let name = |number: usize| format!("{}-{}", letter(number), "x".repeat(number / 26));
    let long = "sixteen letters\n".repeat(16 * 1_024);
    let mut many: Texts = texts(&[], &[("long", &long)]);
    many.skills.extend((0..100).map(|number| (name(number), format!("skill {number}"))));
    let loaded = loaded(harness, &many).await?;
    equal("the number of skills", &loaded.skills.len(), &many.skills.len())?;
    claim(loaded == snapshot(&many), || "the skills are other ones".into())
}

pub(crate) async fn changed_content_is_loaded(harness: &dyn ResourceHarness) -> Proof {
    let (first, second) = (texts(&["be brief"], &[]), texts(&["be kind!"], &[]));
    let mut staged = harness.stage(first.clone()).await?;
    equal("the snapshot", &load(&staged.session).await?, &snapshot(&first))?;
    for changed in [&second, &Texts::default(), &first] {
        staged.author.rewrites(changed.clone()).await?;
        equal("the changed snapshot", &load(&staged.session).await?, &snapshot(changed))?;
    }
    Ok(())
}

pub(crate) async fn removed_content_is_gone(harness: &dyn ResourceHarness) -> Proof {
    let both = texts(&["be brief"], &[("keep", "kept"), ("drop", "dropped")]);
    let one = texts(&[], &[("keep", "kept")]);
    let mut staged = harness.stage(both.clone()).await?;
    equal("the snapshot", &load(&staged.session).await?, &snapshot(&both))?;
    staged.author.rewrites(one.clone()).await?;
    equal("the snapshot after a removal", &load(&staged.session).await?, &snapshot(&one))
}
