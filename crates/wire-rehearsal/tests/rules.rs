//! That no rule of the wire passes with a session that does nothing: each is seen to fail.
//!
//! Knows no API: the sessions here ask nobody.

use std::{fs, panic, path::Path};

use async_trait::async_trait;
use model_wire::BuildError;
use runtime_ports::{
    DeltaSink, ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind, TokenUsage,
};
use wire_rehearsal::{
    asking::{KEY, PROMPT},
    recorded,
    rules::window,
    subject::{Echo, Setting, Subject, Words},
};

/// A session that asks nobody.
#[derive(Debug, Clone, Copy)]
enum Idle {
    /// Answers `hi`, and has a profile of every model.
    Answers,
    /// Fails, and tells what it was asked, and its key.
    Tells,
}

#[async_trait]
impl ModelSession for Idle {
    async fn invoke(
        &self,
        _: &OperationContext,
        _: ModelRequest,
    ) -> Result<ModelResponse, PortFailure> {
        match self {
            Self::Answers => Ok(ModelResponse {
                output: vec![ModelContent::Text { text: "hi".into() }],
                finish: ModelFinish::Stop,
                usage: TokenUsage::default(),
                cost_nano_usd: None,
                attempts: Vec::new(),
            }),
            Self::Tells => {
                let told = format!("{KEY} {PROMPT}");
                Err(PortFailure::not_sent(PortFailureKind::Invalid, "TOLD", told))
            }
        }
    }

    async fn invoke_streaming(
        &self,
        operation: &OperationContext,
        request: ModelRequest,
        _: &dyn DeltaSink,
    ) -> Result<ModelResponse, PortFailure> {
        self.invoke(operation, request).await
    }

    async fn profile(&self, _: &OperationContext, _: &str) -> Result<ModelProfile, PortFailure> {
        Ok(window(8))
    }

    fn issuer(&self) -> Option<&str> {
        None
    }
}

/// Builds sessions that ask nobody.
#[derive(Debug, Clone, Copy)]
struct Nobody(Idle);

impl Subject for Nobody {
    type Builder = String;
    type Session = Idle;

    fn builder(&self, base_url: &str) -> String {
        base_url.to_owned()
    }

    fn set(&self, builder: String, setting: Setting) -> String {
        format!("{builder} {setting:?}")
    }

    fn build(&self, _: String) -> Result<Idle, BuildError> {
        Ok(self.0)
    }

    fn words(&self) -> Words {
        Words { start: &["1"], hi: "2", finish: &["3"], after: &["4"], idle: &["5"], document: "6" }
    }

    fn echo(&self) -> Echo {
        Echo {
            statuses: vec!["400 B"],
            request_id: "x-request-id",
            refusal: String::new(),
            failures: vec![],
            begun: String::new(),
        }
    }
}

/// No rule passes whatever happens: each fails with a session that answers
/// whatever happens, or with one that never does.
#[test]
fn each_rule_can_fail() {
    let answering = wire_rehearsal::__each_wire_rule!(__wire_rule_outcomes Nobody(Idle::Answers));
    let telling = wire_rehearsal::__each_wire_rule!(__wire_rule_outcomes Nobody(Idle::Tells));
    for ((rule, answering), (_, telling)) in answering.iter().zip(&telling) {
        assert!(answering.is_err() || telling.is_err(), "{rule} passes whatever happens");
    }
    let secret = "no_failure_shows_the_key_or_the_prompt";
    let told = telling.iter().find(|(rule, _)| *rule == secret).expect("the rule");
    assert!(told.1.is_err(), "what is told is seen");
}

#[test]
fn recordings_and_their_list_agree() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recordings");
    let list = folder.join("expected.txt");
    fs::create_dir_all(folder.join("in")).expect("a folder");
    fs::write(folder.join("in/one"), "1").expect("a recording");
    fs::write(folder.join("two"), "2").expect("a recording");
    fs::write(folder.join("README.md"), "").expect("a note");
    let whole = "in/one\t1\ntwo\t2\n";
    let cases = [
        (whole, true),
        ("in/one\t1\n", false),
        ("in/one\t1\ntwo\t2\nthree\t3\n", false),
        ("in/one\t1\ntwo\t2\ntwo\t2\n", false),
        ("in/one\t1\ntwo\t3\n", false),
        ("in/one 1\ntwo\t2\n", false),
    ];
    for (lines, expected) in cases {
        fs::write(&list, lines).expect("a list");
        let checked = panic::catch_unwind(|| {
            recorded::check_all(&folder, &list, |name, bytes, outcome| {
                assert_eq!(bytes, outcome.as_bytes(), "{name}");
            });
        });
        assert_eq!(checked.is_ok(), expected, "{lines:?}");
    }
}
