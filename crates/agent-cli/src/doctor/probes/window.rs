//! Decides how the real window of a model is looked for: with prompts that are longer and longer, up to
//! a size that somebody named.
//!
//! Knows sizes and counts. Refuses to know what a window is used for. Invariant: never more requests
//! and tokens than were told before.

use model_wire::Size;

use super::{WINDOW, sizing};
use crate::doctor::{finding::Verdict, patient::Patient, seen::Seen};

/// Where the search begins: what every model has.
const LEAST: u64 = 2_048;
/// How often the gap between what fits and what does not is halved.
const HALVINGS: u32 = 4;

/// What a prompt met.
enum Fate {
    /// All of it was read, as far as can be told.
    Fits,
    /// It was cut to so many tokens, without a word.
    Cut(u64),
    /// Its beginning is forgotten, and nothing was counted.
    Forgotten,
    /// It was refused for its size.
    Refused,
    /// It says nothing.
    Unclear(String),
}

/// What the search takes at most, for people.
pub(crate) fn cost(most: u64) -> String {
    let sizes: Vec<u64> = sizes(most).collect();
    let halved = most.saturating_mul(u64::from(HALVINGS));
    let requests = u32::try_from(sizes.len()).unwrap_or(u32::MAX).saturating_add(HALVINGS);
    let tokens = sizes.iter().fold(halved, |all, &size| all.saturating_add(size));
    format!(
        "looking for the window takes up to {requests} more requests and {tokens} tokens of prompt"
    )
}

/// Each twice the one before; the last is what was named.
fn sizes(most: u64) -> impl Iterator<Item = u64> {
    let doubled = std::iter::successors(Some(LEAST), |size| size.checked_mul(2));
    doubled.take_while(move |&size| size < most).chain([most])
}

/// Looks for it.
pub(super) async fn search(patient: &mut Patient, most: u64) {
    let (mut fits, mut fails) = (0, None);
    for size in sizes(most) {
        if !patient.tries(WINDOW) {
            return;
        }
        match tried(patient, size).await {
            Fate::Fits => fits = size,
            Fate::Refused => {
                fails = Some(size);
                break;
            }
            fate => return told(patient, fate, fits),
        }
    }
    let Some(mut fails) = fails else {
        return patient.find(WINDOW, Verdict::Works, format!("{most} tokens fit, or more"));
    };
    for _ in 0..HALVINGS {
        let middle = fits.midpoint(fails);
        if !patient.tries(WINDOW) {
            break;
        }
        match tried(patient, middle).await {
            Fate::Fits => fits = middle,
            Fate::Refused => fails = middle,
            fate => return told(patient, fate, fits),
        }
    }
    if fits == 0 {
        return patient.find(WINDOW, Verdict::Broken, format!("{fails} tokens are too many"));
    }
    patient.profile.context_tokens = Some(fits);
    let came = format!("between {fits} and {fails} tokens; longer prompts are refused");
    patient.find(WINDOW, Verdict::Works, came);
}

/// A fate that ends the search.
fn told(patient: &mut Patient, fate: Fate, fits: u64) {
    match fate {
        Fate::Cut(counted) => sizing::cut(patient, WINDOW, counted),
        Fate::Forgotten => {
            let came =
                format!("nothing is counted, and beyond {fits} tokens the start is forgotten");
            patient.find(WINDOW, Verdict::Broken, came);
        }
        Fate::Unclear(why) if fits > 0 => {
            patient.find(WINDOW, Verdict::Handled, format!("{fits} tokens fit; then: {why}"));
        }
        Fate::Unclear(why) => patient.pass_over(WINDOW, why),
        Fate::Fits | Fate::Refused => {}
    }
}

async fn tried(patient: &mut Patient, size: u64) -> Fate {
    // The question and the template take some.
    let words = usize::try_from(size.saturating_sub(64)).unwrap_or(usize::MAX);
    let seen = patient.ask(&sizing::long(patient, words)).await;
    fate(&seen, size)
}

/// Words of the prompt are a token or more each, in every tokeniser.
fn fate(seen: &Seen, size: u64) -> Fate {
    if seen.size() == Some(Size::PromptTooLong) {
        return Fate::Refused;
    }
    if !seen.is_good() {
        return Fate::Unclear(seen.why());
    }
    match seen.usage.input_tokens {
        Some(counted) if counted < size - size / 4 => Fate::Cut(counted),
        Some(_) => Fate::Fits,
        None if sizing::remembers(seen) => Fate::Fits,
        None => Fate::Forgotten,
    }
}

#[cfg(test)]
mod tests;
