//! What is remembered of messages, and which of them a load gives.
//!
//! Knows nothing about operations.

use runtime_ports::ModelRole;

use crate::{
    Proof,
    claim::equal,
    conversation::{
        ConversationHarness,
        sample::{all_said, append, holds, newest, said, same, says},
    },
};

pub(crate) async fn a_new_conversation_is_empty(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    for limit in [0, 1, 100, usize::MAX] {
        equal("the messages", &newest(&staged.session, limit).await?, &Vec::new())?;
    }
    Ok(())
}

pub(crate) async fn messages_come_back_as_they_were(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    let decomposed = "na\u{ef}ve nai\u{308}ve \u{212B}";
    let odd =
        "  \"quoted\" \\n \r\n\n\t \u{0} \u{1b}[0m \u{FEFF} {{x}} <b> '; -- \u{1F980}\u{10FFFF}";
    let texts = ["hello", "", "", " ", "\n", odd, decomposed, "null", "0012", "hello"];
    let roles = [ModelRole::System, ModelRole::User, ModelRole::Assistant, ModelRole::Tool];
    let speakers = roles.iter().cycle().copied();
    let mut messages: Vec<_> = speakers.zip(texts).map(|(role, text)| says(role, text)).collect();
    messages.extend(roles.map(|role| says(role, "all say this")));
    append(&staged.session, &messages).await?;
    holds(&staged.session, &messages).await
}

pub(crate) async fn a_long_text_comes_back_whole(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    let long = "sechzehn B\u{e4}r\u{1F980}\n".repeat(64 << 10).trim_end().to_owned();
    let messages = [said("before"), says(ModelRole::Assistant, &long), said("after")];
    append(&staged.session, &messages).await?;
    holds(&staged.session, &messages).await?;
    same("the newest", &newest(&staged.session, 2).await?, &messages[1..])
}

pub(crate) async fn a_long_append_comes_back_whole(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    let messages: Vec<_> = (0..1_000).map(|number| said(&format!("line {number}"))).collect();
    append(&staged.session, &messages).await?;
    holds(&staged.session, &messages).await?;
    same("the newest", &newest(&staged.session, 500).await?, &messages[500..])
}

pub(crate) async fn appends_follow_each_other(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    let mut expected = Vec::new();
    for number in 0..24 {
        let texts = [format!("{} z", 24 - number), format!("{number} a")];
        let messages = &all_said(&[&texts[0], &texts[1]])[..1 + number % 2];
        append(&staged.session, messages).await?;
        expected.extend_from_slice(messages);
        holds(&staged.session, &expected).await?;
    }
    Ok(())
}

pub(crate) async fn the_newest_come_oldest_first(harness: &dyn ConversationHarness) -> Proof {
    let staged = harness.stage().await?;
    let messages = all_said(&["a", "b", "c", "d", "e"]);
    append(&staged.session, &messages[..2]).await?;
    append(&staged.session, &messages[2..]).await?;
    let signed = usize::MAX / 2;
    let limits = [0, 1, 2, 3, 4, 5, 6, 1_000, signed, signed + 1, usize::MAX - 1, usize::MAX];
    for limit in limits {
        let expected = &messages[5_usize.saturating_sub(limit)..];
        same(&format!("at most {limit}"), &newest(&staged.session, limit).await?, expected)?;
    }
    Ok(())
}
