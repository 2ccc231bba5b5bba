//! Decides what a server does with a prompt that is too long, and with an answer that nobody wants
//! any more.
//!
//! Knows the wordings of model-wire. Refuses to know prices.

use std::time::Duration;

use model_wire::{HangUp, Size};

use super::{HANG_UP, OVERFLOW, calling};
use crate::doctor::{
    ask::{Ask, Manner},
    finding::{Probe, Verdict},
    patient::Patient,
    seen::Seen,
};

/// Words of the long prompt; each is a token or more.
const WORDS: usize = 10_000;
/// Stands at its beginning, and nowhere else.
const FIRST_WORD: &str = "zanzibar";

/// A prompt that many small servers cannot hold.
pub(super) async fn overflow(patient: &mut Patient) {
    if !patient.tries(OVERFLOW) {
        return;
    }
    let seen = patient.ask(&long(patient, WORDS)).await;
    if seen.size() == Some(Size::PromptTooLong) {
        return patient.find(OVERFLOW, Verdict::Works, "refused in words that are known");
    }
    if let Some(trouble) = seen.trouble() {
        return patient.pass_over(OVERFLOW, trouble);
    }
    if !seen.is_good() {
        let came = format!("{}: not known as a prompt that is too long", seen.why());
        return patient.find(OVERFLOW, Verdict::Broken, came);
    }
    taken(patient, &seen);
}

/// A prompt of so many words, and the question how it begins.
pub(super) fn long(patient: &Patient, words: usize) -> Ask {
    let all = ["river", "stone", "cloud", "bread", "lamp"];
    let long: Vec<&str> = (0..words).map(|place| all[place % all.len()]).collect();
    let text = format!(
        "{FIRST_WORD} {}. Which word does this message begin with? Answer with that word.",
        long.join(" ")
    );
    Ask::user(text).at_most(64).manner(calling::manner(patient))
}

/// Whether the beginning of the prompt was read.
pub(super) fn remembers(seen: &Seen) -> bool {
    seen.words().to_lowercase().contains(FIRST_WORD)
}

/// The prompt was cut to so many tokens.
pub(super) fn cut(patient: &mut Patient, probe: Probe, counted: u64) {
    patient.profile.cuts_silently = true;
    patient.profile.context_tokens = Some(counted.next_multiple_of(1_024));
    let came = format!("cut to {counted} tokens without a word");
    match patient.has_profile() {
        true => patient.find(probe, Verdict::Handled, format!("{came}; cut answers are refused")),
        false => patient.find(probe, Verdict::Broken, format!("{came}; nobody is told")),
    }
}

/// The prompt was taken: all of it, or what is left of it.
fn taken(patient: &mut Patient, seen: &Seen) {
    let half = (WORDS / 2) as u64;
    match seen.usage.input_tokens {
        Some(counted) if counted < half => cut(patient, OVERFLOW, counted),
        Some(counted) => {
            patient.pass_over(OVERFLOW, format!("it fits: {counted} tokens; the window is larger"));
        }
        None if remembers(seen) => {
            patient.pass_over(OVERFLOW, "it fits: the window is larger");
        }
        None => patient.pass_over(OVERFLOW, "taken, perhaps cut: nothing is counted"),
    }
}

/// An answer that is given up after its first bytes; then another.
pub(super) async fn hang_up(patient: &mut Patient) {
    if !patient.tries(HANG_UP) {
        return;
    }
    let is_streamed = calling::manner(patient) != Manner::Whole;
    let Some(usual) = patient.usual.filter(|_| is_streamed) else {
        return patient.pass_over(HANG_UP, "answers are not streamed");
    };
    let long = Ask::user("Count from 1 to 500, in words.").at_most(2_000);
    let begun = patient.ask_until(&long, HangUp::AfterTheFirstBytes).await;
    if begun.refusal.is_some() || begun.status == 0 {
        return patient.pass_over(HANG_UP, begun.why());
    }
    let next = patient.ask(&Ask::user("Say hello.").at_most(16)).await;
    if !next.is_good() {
        return patient.pass_over(HANG_UP, next.why());
    }
    let waited = next.first.as_millis();
    if next.first <= usual * 3 + Duration::from_secs(1) {
        let came = format!("the next answer began after {waited} ms");
        return patient.find(HANG_UP, Verdict::Works, came);
    }
    let came = format!("the next answer waited {waited} ms, not {}", usual.as_millis());
    patient.find(HANG_UP, Verdict::Broken, came);
}
