//! What outlives a process, and what two of them share.
//!
//! Knows nothing about how a store is opened.

use crate::{
    Proof,
    artifacts::{
        ArtifactHarness,
        sample::{bytes, holds, put},
    },
    claim::equal,
};

pub(crate) async fn a_put_outlives_its_process(harness: &dyn ArtifactHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let (small, large) = (bytes(11, 0), bytes(300_000, 0));
    let digest = put(&staged.store, &small).await?;
    let next = staged.world.after_death(staged.store).await?;
    holds(&next, &digest, &small).await?;
    equal("the digest", &put(&next, &small).await?, &digest)?;
    let other = put(&next, &large).await?;
    let last = staged.world.after_death(next).await?;
    holds(&last, &digest, &small).await?;
    holds(&last, &other, &large).await
}

pub(crate) async fn two_processes_see_one_store(harness: &dyn ArtifactHarness) -> Proof {
    let mut staged = harness.stage().await?;
    let second = staged.world.second_process().await?;
    let (one, other) = (bytes(11, 0), bytes(300_000, 0));
    let first_digest = put(&staged.store, &one).await?;
    let second_digest = put(&second, &other).await?;
    holds(&second, &first_digest, &one).await?;
    holds(&staged.store, &second_digest, &other).await?;
    equal("the digest", &put(&second, &one).await?, &first_digest)
}
