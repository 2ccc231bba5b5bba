//! What putting keeps, and under which name.
//!
//! Knows nothing about parts.

use runtime_ports::Digest;

use crate::{
    Proof,
    artifacts::{
        ArtifactHarness,
        sample::{LARGE, bytes, holds, put, read, same},
    },
    claim::{equal, success},
};

pub(crate) async fn the_digest_is_of_the_bytes(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let text = put(&staged.store, b"abc").await?.to_string();
    // From the standard itself, FIPS 180-2, appendix B.1.
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    equal("the digest of abc", &*text, expected)?;
    for bytes in [&b"\0"[..], b"abc\n", &bytes(70_000, 0)] {
        equal("the digest", &put(&staged.store, bytes).await?, &Digest::of(bytes))?;
    }
    Ok(())
}

pub(crate) async fn bytes_come_back_as_they_were(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let every_byte: Vec<u8> = (0..=u8::MAX).chain((0..=u8::MAX).rev()).collect();
    for bytes in [&every_byte[..], b"\r\n\n\r \t", b"\0", b"../.part", b"\xEF\xBB\xBFtext\x1A"] {
        let digest = put(&staged.store, bytes).await?;
        holds(&staged.store, &digest, bytes).await?;
    }
    Ok(())
}

pub(crate) async fn empty_bytes_are_an_artifact(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let digest = put(&staged.store, b"").await?;
    equal("the digest of nothing", &digest, &Digest::of(b""))?;
    equal("the digest of nothing again", &put(&staged.store, b"").await?, &digest)?;
    for range in [0..0, 0..1, 7..9, 0..u64::MAX] {
        let part = success("reading nothing", read(&staged.store, &digest, range).await)?;
        same("the artifact", &part, b"")?;
    }
    Ok(())
}

pub(crate) async fn large_bytes_come_back_whole(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let large = bytes(LARGE, 0);
    let digest = put(&staged.store, &large).await?;
    equal("the digest", &digest, &Digest::of(&large))?;
    holds(&staged.store, &digest, &large).await
}

pub(crate) async fn putting_again_changes_nothing(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let kept = bytes(100_000, 0);
    let digest = put(&staged.store, &kept).await?;
    for _ in 0..3 {
        equal("the digest", &put(&staged.store, &kept).await?, &digest)?;
        holds(&staged.store, &digest, &kept).await?;
    }
    Ok(())
}

pub(crate) async fn artifacts_do_not_mix(harness: &dyn ArtifactHarness) -> Proof {
    let staged = harness.stage().await?;
    let artifacts = [bytes(3, 0), bytes(30_000, 0), bytes(30_001, 0), bytes(30_000, 1), Vec::new()];
    let mut digests = Vec::new();
    for artifact in &artifacts {
        digests.push(put(&staged.store, artifact).await?);
    }
    for (digest, artifact) in digests.iter().zip(&artifacts) {
        holds(&staged.store, digest, artifact).await?;
    }
    Ok(())
}
