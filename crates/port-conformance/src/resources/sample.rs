//! Decides what the texts of the scenarios look like, and how they are loaded.
//!
//! Knows nothing about what is expected of the session.

use std::sync::Arc;

use runtime_ports::{ResourceSession, ResourceSnapshot};

use super::{ResourceHarness, Texts};
use crate::{
    Broken, Proof,
    claim::{claim, operation, success},
};

/// These instructions and these skills.
pub(super) fn texts(instructions: &[&str], skills: &[(&str, &str)]) -> Texts {
    Texts {
        instructions: instructions.iter().map(|text| (*text).to_owned()).collect(),
        skills: skills.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect(),
    }
}

/// What a session over these texts loads.
pub(super) fn snapshot(texts: &Texts) -> ResourceSnapshot {
    ResourceSnapshot::new(texts.instructions.clone(), texts.skills.clone())
}

pub(super) async fn load(session: &Arc<dyn ResourceSession>) -> Result<ResourceSnapshot, Broken> {
    success("loading", session.load(&operation()).await)
}

/// What a fresh session over these texts loads.
pub(super) async fn loaded(
    harness: &dyn ResourceHarness,
    texts: &Texts,
) -> Result<ResourceSnapshot, Broken> {
    let staged = harness.stage(texts.clone()).await?;
    load(&staged.session).await
}

/// The contents differ pairwise, and so must their digests.
pub(super) async fn differ(harness: &dyn ResourceHarness, contents: &[Texts]) -> Proof {
    let mut seen: Vec<(&Texts, String)> = Vec::new();
    for content in contents {
        let digest = loaded(harness, content).await?.digest;
        let twin = seen.iter().find(|earlier| earlier.1 == digest);
        claim(twin.is_none(), || format!("{content:?} has the digest of {twin:?}"))?;
        seen.push((content, digest));
    }
    Ok(())
}
