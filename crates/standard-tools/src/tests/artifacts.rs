//! Checks what is read of an artifact.

use runtime_ports::{ArtifactStore as _, Digest};

use super::*;
use crate::artifact_tool;

/// What the tool gives of an artifact of these bytes.
async fn read(bytes: &[u8], arguments: Value) -> Result<ToolReply, PortFailure> {
    let artifacts = FakeArtifacts::new();
    let digest = artifacts.put(&operation(), bytes).await.unwrap();
    let mut arguments = arguments;
    arguments.as_object_mut().unwrap().entry("digest").or_insert(json!(digest.to_string()));
    invoke(artifacts, arguments).await
}

async fn invoke(artifacts: FakeArtifacts, arguments: Value) -> Result<ToolReply, PortFailure> {
    let world = ToolWorld {
        workspace: Arc::new(FakeWorkspace::default()),
        interaction: Arc::new(FakeInteraction::unavailable()),
        resources: Arc::new(FakeResources::new([] as [&str; 0])),
        artifacts: Arc::new(artifacts),
    };
    let invocation = ToolInvocation {
        call_id: "call".into(),
        idempotency_key: "key".into(),
        arguments,
        shared_state: Arc::default(),
        metadata: Arc::default(),
        cycle: 1,
    };
    artifact_tool().invoke(&operation(), &world, invocation).await
}

/// The result without the digest.
async fn part(bytes: &[u8], arguments: Value) -> Value {
    let reply = read(bytes, arguments).await.unwrap();
    assert_eq!(reply.error_code, None, "{}", reply.content);
    assert!(reply.content.len() <= OUTPUT_LIMIT_BYTES, "{} bytes", reply.content.len());
    let mut result: Value = serde_json::from_str(&reply.content).unwrap();
    let digest = result.as_object_mut().unwrap().remove("digest");
    assert_eq!(digest, Some(json!(Digest::of(bytes).to_string())));
    result
}

async fn refused(arguments: Value) -> (String, String) {
    let reply = read(b"kept", arguments).await.unwrap();
    (reply.error_code.unwrap(), reply.content)
}

#[tokio::test]
async fn a_part_is_read_by_bytes() {
    let check = async |arguments, offset: u64, next: Option<u64>, content: &str| {
        let expected = json!({ "offset": offset, "next_offset": next, "content": content });
        assert_eq!(part(b"0123456789", arguments).await, expected);
    };
    check(json!({}), 0, None, "0123456789").await;
    check(json!({ "offset": 0, "length": 4 }), 0, Some(4), "0123").await;
    check(json!({ "offset": 4, "length": 6 }), 4, None, "456789").await;
    check(json!({ "offset": 4, "length": 60 }), 4, None, "456789").await;
    check(json!({ "length": 10 }), 0, None, "0123456789").await;
    check(json!({ "offset": 10 }), 10, None, "").await;
    check(json!({ "offset": 99 }), 99, None, "").await;
    check(json!({ "offset": i64::MAX, "length": i64::MAX }), i64::MAX as u64, None, "").await;
}

#[tokio::test]
async fn a_part_is_read_by_lines() {
    let check = async |arguments, lines: (u64, u64), bytes: (u64, Option<u64>), content: &str| {
        let expected = json!({
            "from_line": lines.0, "to_line": lines.1,
            "offset": bytes.0, "next_offset": bytes.1, "content": content,
        });
        assert_eq!(part("one\ntwö\n\nfour".as_bytes(), arguments).await, expected);
    };
    check(json!({ "from_line": 1 }), (1, 4), (0, None), "one\ntwö\n\nfour").await;
    check(json!({ "from_line": 2, "max_lines": 1 }), (2, 2), (4, Some(9)), "twö\n").await;
    check(json!({ "from_line": 3, "max_lines": 1 }), (3, 3), (9, Some(10)), "\n").await;
    check(json!({ "from_line": 4, "max_lines": 9 }), (4, 4), (10, None), "four").await;
    check(json!({ "max_lines": 1 }), (1, 1), (0, Some(4)), "one\n").await;
    // Beyond the end: the line that would come next, and nothing of it.
    check(json!({ "from_line": 5 }), (5, 4), (14, None), "").await;
    check(json!({ "from_line": 500 }), (5, 4), (14, None), "").await;
}

#[tokio::test]
async fn going_on_reads_the_whole_once() {
    let text = "é\"\n\\ünd 漢字 🦀\t".repeat(9_000);
    let check = async |first: Value, is_by_lines: bool| {
        let (mut whole, mut arguments, mut calls) = (String::new(), first, 0);
        loop {
            let result = part(text.as_bytes(), arguments).await;
            assert_eq!(result.get("lossy"), None);
            whole.push_str(result["content"].as_str().unwrap());
            calls += 1;
            match (result["next_offset"].as_u64(), is_by_lines) {
                (None, _) => break,
                (Some(next), false) => arguments = json!({ "offset": next }),
                (Some(_), true) => {
                    let next = result["to_line"].as_u64().unwrap() + 1;
                    arguments = json!({ "from_line": next });
                }
            }
        }
        assert_eq!(whole.len(), text.len());
        assert!(whole == text && (3..40).contains(&calls), "{calls} calls");
    };
    check(json!({}), false).await;
    check(json!({ "from_line": 1 }), true).await;
}

#[tokio::test]
async fn characters_are_not_torn() {
    let text = "é".repeat(10);
    let check = async |arguments, offset: u64, next: Option<u64>, count: usize| {
        let content = "é".repeat(count);
        let expected = json!({ "offset": offset, "next_offset": next, "content": content });
        assert_eq!(part(text.as_bytes(), arguments).await, expected);
    };
    check(json!({ "offset": 1 }), 2, None, 9).await;
    check(json!({ "offset": 0, "length": 3 }), 0, Some(2), 1).await;
    check(json!({ "offset": 3, "length": 4 }), 4, Some(6), 1).await;
}

#[tokio::test]
async fn what_is_no_text_is_shown_with_replacements_and_goes_on() {
    let result = part(b"ab\xFF\x80cd", json!({})).await;
    assert_eq!(result["lossy"], true);
    assert_eq!(result["content"], "ab\u{fffd}\u{fffd}cd");
    let (mut next, mut calls) = (Some(0), 0);
    while let Some(offset) = next {
        next = part(&[0x80; 40], json!({ "offset": offset, "length": 2 })).await["next_offset"]
            .as_u64();
        assert!(next.is_none_or(|next| next > offset), "{next:?} after {offset}");
        calls += 1;
    }
    assert!(calls <= 40, "{calls}");
}

#[tokio::test]
async fn a_line_that_is_too_long_is_shown_in_part() {
    let text = format!("short\n{}\nlast", "x".repeat(3 * OUTPUT_LIMIT_BYTES));
    let first = part(text.as_bytes(), json!({ "from_line": 1 })).await;
    assert_eq!((&first["content"], &first["to_line"]), (&json!("short\n"), &json!(1)));
    let second = part(text.as_bytes(), json!({ "from_line": 2 })).await;
    assert_eq!((&second["line_cut"], &second["to_line"]), (&json!(true), &json!(2)));
    let next = second["next_offset"].as_u64().unwrap();
    assert_eq!(next, 6 + second["content"].as_str().unwrap().len() as u64);
    let last = part(text.as_bytes(), json!({ "from_line": 3 })).await;
    assert_eq!(last["content"], "last");
}

#[tokio::test]
async fn wrong_arguments_are_told_and_name_what_is_expected() {
    for digest in ["", "abc", &"g".repeat(64), &"0".repeat(63), "../../etc/passwd"] {
        let (code, message) = refused(json!({ "digest": digest })).await;
        assert_eq!(code, "INVALID_ARGUMENTS");
        assert!(message.contains("64 hexadecimal digits"), "{message}");
    }
    for arguments in [
        json!({ "length": 0 }),
        json!({ "from_line": 0 }),
        json!({ "max_lines": 0 }),
        json!({ "offset": -1 }),
        json!({ "offset": 1.5 }),
        json!({ "offset": 1, "from_line": 1 }),
        json!({ "length": 1, "max_lines": 1 }),
        json!({ "path": "a" }),
        json!({ "digest": 7 }),
    ] {
        assert_eq!(refused(arguments.clone()).await.0, "INVALID_ARGUMENTS", "{arguments}");
    }
    let (code, message) = refused(json!({ "digest": "0".repeat(64) })).await;
    assert_eq!(code, "ARTIFACT_NOT_FOUND");
    assert!(message.contains("copy it exactly"), "{message}");
}

#[tokio::test]
async fn a_digest_may_be_copied_with_space_and_in_capitals() {
    let digest = Digest::of(b"kept").to_string().to_uppercase();
    let reply = read(b"kept", json!({ "digest": format!(" {digest}\n") })).await.unwrap();
    assert_eq!(reply.error_code, None, "{}", reply.content);
}

#[tokio::test]
async fn a_store_that_breaks_down_is_the_ports_failure() {
    let down = PortFailure::not_sent(runtime_ports::PortFailureKind::Unavailable, "DOWN", "down");
    let plan = in_memory_fakes::FaultPlan::new().before("artifacts.read", 1, down.clone());
    let artifacts = FakeArtifacts::new().with_faults(&plan);
    let failed = invoke(artifacts, json!({ "digest": "0".repeat(64) })).await;
    assert_eq!(failed, Err(down));
}

#[test]
fn it_changes_nothing_and_runs_beside_others() {
    let tool = artifact_tool();
    let descriptor = tool.descriptor();
    assert_eq!(descriptor.definition.name, crate::READ_ARTIFACT);
    assert!(descriptor.parallel);
    assert_eq!(descriptor.effect, runtime_ports::EffectClass::ReadOnly);
    assert_eq!(descriptor.definition.input_schema["additionalProperties"], false);
    assert!(!descriptor.definition.description.contains("  "));
}
