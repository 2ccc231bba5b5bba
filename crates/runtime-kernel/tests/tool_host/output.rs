//! How much of an output a model is shown, and where the rest is.

use in_memory_fakes::{FakeArtifacts, FaultPlan};
use proptest::prelude::*;
use runtime_kernel::ServedTool;
use runtime_ports::{ArtifactStore as _, Digest, PortFailure, PortFailureKind, ToolReply};

use crate::stage::{Acting, error_of, host_over, operation, serve};

async fn shown(content: &str, limit: usize, artifacts: &FakeArtifacts) -> ServedTool {
    let tool = Acting::giving("read", Ok(ToolReply::text(content)))
        .declaring(|descriptor| descriptor.output_limit_bytes = limit);
    serve(&host_over([tool], artifacts), "read").await
}

#[tokio::test]
async fn what_fits_is_shown_as_it_is_and_kept_nowhere() {
    let artifacts = FakeArtifacts::new();
    let content = "x".repeat(1_000);
    let served = shown(&content, 1_000, &artifacts).await;
    assert_eq!((served.text, served.artifact), (content, None));
    assert!(artifacts.is_empty());
}

#[tokio::test]
async fn what_does_not_fit_is_cut_in_the_middle_and_kept_whole() {
    let artifacts = FakeArtifacts::new();
    let content = format!("BEGIN{}END", "x".repeat(5_000));
    let served = shown(&content, 1_000, &artifacts).await;
    let digest = Digest::of(content.as_bytes());
    assert!(served.ok, "a cut output is a success");
    assert!(served.text.starts_with("BEGINx") && served.text.ends_with("xEND"));
    assert!(served.text.contains("the output had 5008 bytes"), "{}", served.text);
    assert!(served.text.contains(&digest.to_string()), "{}", served.text);
    assert!(served.text.len() <= 1_000);
    assert_eq!(served.artifact, Some(digest));
    let kept = artifacts.read(&operation(), &digest, 0..u64::MAX).await.expect("kept");
    assert_eq!(kept, content.as_bytes());
}

#[tokio::test]
async fn an_output_that_cannot_be_kept_is_shown_nevertheless_and_says_so() {
    let kind = PortFailureKind::Unavailable;
    let full = PortFailure::rejected(kind, "DISK_FULL", "no space is left; free some");
    let plan = FaultPlan::new().before("artifacts.put", 1, full);
    let artifacts = FakeArtifacts::new().with_faults(&plan);
    let served = shown(&"x".repeat(5_000), 1_000, &artifacts).await;
    assert!(served.ok);
    assert_eq!(served.artifact, None);
    assert!(served.text.contains("the whole could not be kept (DISK_FULL)"), "{}", served.text);
}

#[tokio::test]
async fn the_text_of_an_error_is_cut_too() {
    let reply = ToolReply::error("failed", "x".repeat(5_000));
    let tool = Acting::giving("run", Ok(reply));
    let served = serve(&host_over([tool], &FakeArtifacts::new()), "run").await;
    let error = error_of(&served);
    assert!(error.len() <= 1_000 && error.contains("the output had 5000 bytes"), "{error}");
}

#[tokio::test]
async fn a_limit_below_the_note_shows_the_note_alone() {
    let served = shown(&"x".repeat(50), 10, &FakeArtifacts::new()).await;
    assert!(served.text.trim().starts_with('[') && served.text.trim().ends_with(']'));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Cuts fall between characters, the ends are those of the content, and the limit holds.
    #[test]
    fn cuts_fall_on_character_boundaries(
        content in "[a-zäß🦀]{300,600}",
        limit in 250_usize..600,
    ) {
        let executor = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let served = executor.expect("an executor").block_on(async {
            shown(&content, limit, &FakeArtifacts::new()).await
        });
        prop_assert!(served.text.len() <= limit || served.text == content);
        if served.text != content {
            let (head, rest) = served.text.split_once("\n[").expect("a note");
            let (_, tail) = rest.split_once("]\n").expect("the end of the note");
            prop_assert!(content.starts_with(head) && content.ends_with(tail));
            prop_assert!(head.len().abs_diff(tail.len()) <= 8, "cut in the middle");
        }
    }
}

#[tokio::test]
async fn a_cut_output_names_the_tool_that_reads_the_whole() {
    let content = "x".repeat(5_000);
    let digest = Digest::of(content.as_bytes());
    let check = async |reader: &str, is_named: bool| {
        let long = Acting::giving("read", Ok(ToolReply::text(&*content)))
            .declaring(|descriptor| descriptor.output_limit_bytes = 1_000);
        let reading = Acting::giving("read_kept", Ok(ToolReply::text("kept")));
        let host = host_over([long, reading], &FakeArtifacts::new());
        let text = serve(&host.with_artifact_reader(reader), "read").await.text;
        let named = format!("read it with {reader} by its digest {digest}");
        assert_eq!(text.contains(&named), is_named, "{text}");
        assert!(text.contains(&digest.to_string()) && text.len() <= 1_000, "{text}");
    };
    check("read_kept", true).await;
    check("there_is_none", false).await;
}
