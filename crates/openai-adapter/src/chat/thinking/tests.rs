//! What is reasoning and what is text, however the text is cut.

use super::{Said, Thinking};
use crate::server_profile::ThinkTags;

/// `reasoning|text` of the pieces, then of what the end gives back: `|text (not reasoning)`.
fn read(tags: ThinkTags, text: &str, size: usize) -> String {
    let mut thinking = Thinking::new(tags);
    let (mut reasoning, mut spoken) = (String::new(), String::new());
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(size) {
        let piece: String = piece.iter().collect();
        thinking.take(&piece, &mut |said| match said {
            Said::Text(text) => spoken.push_str(&text),
            Said::Reasoning(text) => reasoning.push_str(&text),
        });
    }
    let (held, shown) = thinking.finish();
    let kept = reasoning.strip_suffix(&shown).expect("what is taken back was told");
    format!("{kept}|{spoken}{held}")
}

fn check(tags: ThinkTags, text: &str, expected: &str) {
    for size in [1, 2, 7, 1_000] {
        assert_eq!(read(tags, text, size), expected, "{text:?} in pieces of {size}");
    }
}

#[test]
fn d3_tagged_text_at_the_front_is_reasoning() {
    let tags = ThinkTags::Reasoning;
    check(tags, "<think>hm</think>hi", "hm|hi");
    check(tags, " \n<think>h<m</t</think>\n\nhi </think>", "h<m</t|hi </think>");
    check(tags, "<think></think>hi", "|hi");
    check(tags, "<think>hm</think>", "hm|");
    check(tags, "hi <think>hm</think>", "|hi <think>hm</think>");
    check(tags, "<thin", "|<thin");
    check(tags, "<thinker>", "|<thinker>");
    check(tags, "", "|");
    check(tags, "  ", "|  ");
    check(tags, "<think>ä漢</think>😀", "ä漢|😀");
}

#[test]
fn d3_a_tag_that_is_never_closed_is_text() {
    check(ThinkTags::Reasoning, "<think>the answer is 4", "|<think>the answer is 4");
    check(ThinkTags::Reasoning, "<think>the answer </thi", "|<think>the answer </thi");
    check(ThinkTags::ReasoningAlreadyOpen, "the answer is 4", "|the answer is 4");
}

#[test]
fn d3_the_opening_tag_may_be_left_out() {
    let tags = ThinkTags::ReasoningAlreadyOpen;
    check(tags, "hm</think>\n\nhi", "hm|hi");
    check(tags, "<think>hm</think>hi", "hm|hi");
    check(tags, "</think>hi", "|hi");
}

#[test]
fn d3_without_such_a_profile_all_of_it_is_text() {
    check(ThinkTags::Text, "<think>hm</think>hi", "|<think>hm</think>hi");
}
