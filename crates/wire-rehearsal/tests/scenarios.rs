//! That no scenario of the wire passes with a session that does nothing: each is seen to fail.
//!
//! Knows no API: the sessions here ask nobody.

use std::{fs, future::Future, panic, path::Path};

use async_trait::async_trait;
use runtime_ports::{
    DeltaSink, ModelContent, ModelFinish, ModelProfile, ModelRequest, ModelResponse, ModelSession,
    OperationContext, PortFailure, PortFailureKind, TokenUsage,
};
use wire_rehearsal::{
    asking::{KEY, PROMPT},
    connections,
    ends::{Ends, Words},
    loopback::Loopback,
    profiles, recorded, secrets,
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
        Ok(profiles::window(8))
    }

    fn issuer(&self) -> Option<&str> {
        None
    }
}

const WORDS: Words = Words { start: &["1"], hi: "2", finish: &["3"], after: &["4"] };

fn ends(idle: Idle) -> Ends<impl Fn(&Loopback) -> Idle> {
    Ends { words: WORDS, session: move |_: &Loopback| idle }
}

/// Expects the scenario to fail.
async fn fails(name: &str, scenario: impl Future<Output = ()> + Send + 'static) {
    let failed = tokio::spawn(scenario).await;
    assert!(failed.is_err_and(|error| error.is_panic()), "{name} passes whatever happens");
}

#[tokio::test]
async fn each_end_can_fail() {
    use Idle::{Answers, Tells};
    fails("packets", async { ends(Tells).packets_may_have_any_size().await }).await;
    fails("no orderly end", async { ends(Tells).no_orderly_end_is_needed().await }).await;
    fails("silence", async { ends(Answers).silence_ends_the_wait().await }).await;
    fails("signs of life", async { ends(Answers).signs_of_life_are_no_progress(&[]).await }).await;
    fails("slowness", async { ends(Answers).a_slow_answer_is_waited_for().await }).await;
    fails("late counts", async { ends(Answers).late_counts_are_waited_for().await }).await;
    fails("cuts", async { ends(Answers).cuts_are_unknown().await }).await;
    fails("a status", async { ends(Answers).a_stalled_body_hides_no_status("{").await }).await;
    fails("a limit", async { ends(Answers).an_event_beyond_4096_bytes_is_refused().await }).await;
    fails("lateness", async { ends(Answers).a_cancelled_and_a_late_call_end_soon().await }).await;
}

#[tokio::test]
async fn each_promise_of_connections_can_fail() {
    let of_server = |_: &Loopback| Idle::Answers;
    fails("used again", connections::is_used_again(b"", of_server)).await;
    fails("unreachable", connections::unreachable_is_named(|_| Idle::Answers)).await;
    let connecting = connections::connecting_commits_nothing(|_, _| Ok(Idle::Answers));
    fails("connecting", connecting).await;
    fails("heads", connections::heads_name_and_price("{}", of_server)).await;
    let profiles = profiles::are_the_configured_ones(&Idle::Answers, |_| Idle::Answers);
    fails("profiles", profiles).await;
}

#[tokio::test]
async fn each_way_of_a_secret_can_fail() {
    let echo = secrets::Echo {
        statuses: vec!["400 B"],
        request_id: "x-request-id",
        refusal: String::new(),
        error: String::new(),
        begun: String::new(),
    };
    let replies = echo.replies();
    fails("told", secrets::stay_hidden(replies.clone(), |_| Idle::Tells)).await;
    fails("answered", secrets::stay_hidden(replies, |_| Idle::Answers)).await;
    fails("elsewhere", secrets::stay_here(|_| Idle::Tells)).await;
    let shown = panic::catch_unwind(|| secrets::builders_hide_the_key(|_| KEY, Ok));
    assert!(shown.is_err(), "a builder shows the key");
    let in_the_clear = panic::catch_unwind(|| secrets::builders_hide_the_key(|_| "", Ok));
    assert!(in_the_clear.is_err(), "the key is sent in the clear");
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
