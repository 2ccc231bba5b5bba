//! Decides whether the router over each adapter behaves well under every fault that llmock can make,
//! in the judgement of llmock itself.
//!
//! After each fault `llmock report` must end with 0. Where an answer breaks off, nothing repeats it
//! behind the caller's back: it is told, unless the caller's policy asks for it again.

use std::{collections::BTreeSet, time::Duration};

use port_conformance::model::RecordedDeltas;
use router_adapter::{RetryPolicy, Router, UnknownOutcomes};
use runtime_kernel::engine::RunStatus;
use runtime_ports::{ModelSession, PortFailureKind as Kind};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    calling::{claim, operation, question, text_of, told},
    control,
    conversations::run_agent,
    llmock::{VERSION, prefix},
    results::{About, Held, Outcome, Results},
    speech::{Endpoint, Speech},
};

/// What must come of a call.
#[derive(Debug, Clone, Copy)]
enum Expect {
    /// An answer, after this many requests.
    Answered(usize),
    /// A failure of this kind after this many requests, and nothing more.
    Failed(Kind, usize),
    /// A failure of this kind after one request; with a policy that repeats such answers an answer,
    /// after two.
    AskedAgain(Kind),
}

/// One fault.
struct Fault {
    name: &'static str,
    behaviors: Value,
    expect: Expect,
    /// How long the call may take.
    most: Duration,
}

/// Refusals by status alone, and what must come of each.
const STATUSES: [(&str, u16, Expect); 13] = [
    ("fail 400", 400, Expect::Failed(Kind::Invalid, 1)),
    ("fail 401", 401, Expect::Failed(Kind::Forbidden, 1)),
    ("fail 403", 403, Expect::Failed(Kind::Forbidden, 1)),
    ("fail 404", 404, Expect::Failed(Kind::NotFound, 1)),
    ("fail 422", 422, Expect::Failed(Kind::Invalid, 1)),
    ("fail 408", 408, Expect::Answered(2)),
    ("fail 409", 409, Expect::Answered(2)),
    ("fail 429", 429, Expect::Answered(2)),
    ("fail 500", 500, Expect::Answered(2)),
    ("fail 502", 502, Expect::Answered(2)),
    ("fail 503", 503, Expect::Answered(2)),
    ("fail 504", 504, Expect::Answered(2)),
    ("fail 529", 529, Expect::Answered(2)),
];

fn fault(name: &'static str, behavior: Value, expect: Expect) -> Fault {
    Fault { name, behaviors: json!([behavior]), expect, most: Duration::from_secs(60) }
}

fn faults() -> Vec<Fault> {
    let plain = STATUSES.into_iter().map(|(name, status, expect)| {
        fault(name, json!({ "type": "fail", "status": status }), expect)
    });
    plain.chain(refusals_that_last()).chain(delays()).chain(broken_streams()).collect()
}

fn refusals_that_last() -> [Fault; 5] {
    let fail = |status: u16, wait: Option<f64>, times: Option<u32>| json!({ "type": "fail", "status": status, "retry_after": wait, "times": times });
    let (answered, failed) = (Expect::Answered, Expect::Failed);
    let too_long = fail(429, Some(30.0), Some(1));
    [
        fault("fail 429 twice, asking to wait", fail(429, Some(0.7), Some(2)), answered(3)),
        fault("fail 503, asking to wait", fail(503, Some(1.0), Some(1)), answered(2)),
        fault("fail 503 for good", fail(503, None, None), failed(Kind::Unavailable, 2)),
        fault("fail 429 for good", fail(429, Some(0.1), None), failed(Kind::RateLimited, 3)),
        Fault {
            most: Duration::from_secs(2),
            ..fault("fail 429, asking for too long", too_long, failed(Kind::RateLimited, 1))
        },
    ]
}

fn delays() -> [Fault; 4] {
    let slow = |kind: &str, seconds: f64| json!({ "type": kind, "seconds": seconds });
    let late = Expect::Failed(Kind::Timeout, 1);
    let reply = json!({ "type": "reply", "text": "Bean." });
    [
        fault("delay", slow("delay", 0.6), Expect::Answered(1)),
        Fault {
            most: Duration::from_millis(600),
            ..fault("delay beyond the deadline", slow("delay", 2.0), late)
        },
        fault("slow_first_token", slow("slow_first_token", 0.6), Expect::Answered(1)),
        fault("reply", reply, Expect::Answered(1)),
    ]
}

fn broken_streams() -> [Fault; 4] {
    let broken = |name, kind: &str, expect| {
        let behavior = json!({
            "type": "stream_fault", "kind": kind, "after_chunks": 6, "stall_seconds": 3,
        });
        fault(name, behavior, Expect::AskedAgain(expect))
    };
    [
        broken("stream_fault disconnect", "disconnect", Kind::Protocol),
        broken("stream_fault truncate", "truncate", Kind::Protocol),
        broken("stream_fault malformed", "malformed", Kind::Protocol),
        broken("stream_fault stall", "stall", Kind::Timeout),
    ]
}

/// The faults of tools, which take a whole agent.
const TOOL_FAULTS: [&str; 2] = ["malformed_arguments", "unknown_tool"];

/// All of them.
pub(crate) async fn check(base: &str, speech: Speech, results: &Results) {
    let about = About { server: "llmock", version: VERSION, api: speech.name() };
    results.take(&about, "every fault is driven", every_fault_is_driven()).await;
    for fault in faults() {
        results.take(&about, fault.name, judged(base, speech, &fault)).await;
    }
    for kind in TOOL_FAULTS {
        let name = format!("tool_fault {kind}");
        results.take(&about, &name, tool_fault(base, speech, kind)).await;
    }
}

/// The faults that are settings of a whole server: a quota, and a small window.
pub(crate) async fn check_narrow(base: &str, results: &Results) {
    for speech in Speech::ALL {
        let about = About { server: "llmock", version: VERSION, api: speech.name() };
        results.take(&about, "quota of requests", quota(base, speech)).await;
        results.take(&about, "context window", window(base, speech)).await;
    }
}

fn endpoint(base: &str, speech: Speech) -> Endpoint {
    let base_url = format!("{base}{}", prefix(speech));
    Endpoint { idle: Duration::from_secs(1), ..Endpoint::new(speech, base_url, "any-model") }
}

/// The session that retries by policy, as the command uses it.
fn routed(endpoint: &Endpoint) -> std::sync::Arc<dyn ModelSession> {
    routed_by(RetryPolicy::default(), endpoint)
}

fn routed_by(policy: RetryPolicy, endpoint: &Endpoint) -> std::sync::Arc<dyn ModelSession> {
    let router = Router::single(endpoint.session(), endpoint.model.clone());
    router.with_policy(policy).session("ada", None)
}

/// For who rather pays twice than has half an answer.
fn repeating() -> RetryPolicy {
    let (unknown_outcomes, after_deltas) = (UnknownOutcomes::Any, true);
    RetryPolicy { unknown_outcomes, after_deltas, ..RetryPolicy::default() }
}

async fn reset(base: &str) -> Result<(), String> {
    control::command(base, "POST", "/_llmock/reset", None).await.map(drop)
}

async fn script(base: &str, behaviors: &Value) -> Result<(), String> {
    let body = json!({ "behaviors": behaviors });
    control::command(base, "POST", "/_llmock/scenario", Some(&body)).await.map(drop)
}

async fn requests(base: &str) -> Result<usize, String> {
    let list = control::command(base, "GET", "/_llmock/requests", None).await?;
    Ok(list["count"].as_u64().and_then(|count| count.try_into().ok()).unwrap_or(0))
}

async fn judged(base: &str, speech: Speech, fault: &Fault) -> Outcome {
    reset(base).await?;
    script(base, &fault.behaviors).await?;
    // A server that stalls for three seconds is not waited for.
    let endpoint = Endpoint { idle: idle(fault), ..endpoint(base, speech) };
    let session = routed(&endpoint);
    let request = question(&endpoint.model, "Say something about a garden in ten words.", 100);
    let deltas = RecordedDeltas::default();
    let operation = operation(fault.most);
    let answered = session.invoke_streaming(&operation, request.clone(), &deltas).await;
    let count = match (fault.expect, answered) {
        (Expect::Answered(count), Ok(response)) => {
            claim(!text_of(&response).is_empty(), || "the answer is empty".into())?;
            count
        }
        (Expect::Failed(kind, count), Err(failure)) => {
            claim(failure.kind == kind, || told(failure))?;
            count
        }
        (Expect::AskedAgain(kind), Err(failure)) => {
            claim(failure.kind == kind, || told(failure))?;
            let seen = requests(base).await?;
            claim(seen == 1, || format!("{seen} requests without being asked to"))?;
            reset(base).await?;
            script(base, &fault.behaviors).await?;
            let session = routed_by(repeating(), &endpoint);
            let (answered, _) = crate::calling::ask(&*session, request).await;
            answered.map_err(told)?;
            2
        }
        (expected, Ok(_)) => return Err(format!("it was answered, expected {expected:?}")),
        (expected, Err(failure)) => {
            return Err(format!("{}, expected {expected:?}", told(failure)));
        }
    };
    control::command(base, "DELETE", "/_llmock/scenario", None).await?;
    let seen = requests(base).await?;
    claim(seen == count, || format!("{seen} requests, expected {count}"))?;
    verdict(base).await
}

fn idle(fault: &Fault) -> Duration {
    let stalls = fault.name == "stream_fault stall";
    Duration::from_secs(if stalls { 1 } else { 20 })
}

/// What `llmock report` says; anything but 0 is broken.
async fn verdict(base: &str) -> Outcome {
    let home = std::env::var("SERVERS_LLMOCK_HOME").map_err(|_| "where is llmock?".to_owned())?;
    let report =
        Command::new(format!("{home}/bin/llmock")).args(["report", "--url", base]).output();
    let report = report.await.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    claim(report.status.success(), || text.clone())?;
    let warnings = text.lines().filter(|line| line.contains("WARN")).map(str::trim);
    let warnings: Vec<_> = warnings.collect();
    if warnings.is_empty() { Ok(Held::Yes) } else { Ok(Held::With(warnings.join("; "))) }
}

async fn tool_fault(base: &str, speech: Speech, kind: &str) -> Outcome {
    reset(base).await?;
    script(base, &json!([{ "type": "tool_fault", "kind": kind }])).await?;
    let (result, ran) = run_agent(&endpoint(base, speech), "Multiply six times seven.").await?;
    match kind {
        // The model is told, calls the right tool or none, and answers.
        "unknown_tool" => claim(result.status == RunStatus::Completed, || {
            format!("{:?}: {:?}", result.status, result.error)
        })?,
        // Half of an object is an answer that was cut: nothing runs from it.
        _ => claim(ran == 0, || format!("{ran} calls ran, {:?}", result.status))?,
    }
    verdict(base).await?;
    Ok(Held::With(format!("{:?}, {ran} calls ran", result.status)))
}

/// A request beyond the quota waits as long as it is told, and is answered.
async fn quota(base: &str, speech: Speech) -> Outcome {
    reset(base).await?;
    let endpoint = endpoint(base, speech);
    let session = routed(&endpoint);
    for number in 0..31 {
        let request = question(&endpoint.model, &format!("Bed {number}."), 20);
        let (answered, _) = crate::calling::ask(&*session, request).await;
        answered.map_err(told)?;
    }
    let seen = requests(base).await?;
    claim(seen > 31, || format!("{seen} requests, so that none was beyond the quota"))?;
    verdict(base).await
}

async fn window(base: &str, speech: Speech) -> Outcome {
    reset(base).await?;
    let endpoint = endpoint(base, speech);
    let request = question(&endpoint.model, &"bean ".repeat(2_000), 20);
    let (answered, _) = crate::calling::ask(&*routed(&endpoint), request).await;
    let failure = answered.err().ok_or("it was answered")?;
    claim(failure.kind == Kind::ContextOverflow, || told(failure))?;
    verdict(base).await
}

/// The kinds of faults that the installed llmock knows are those that are driven here.
async fn every_fault_is_driven() -> Outcome {
    const LIST: &str = "import json, typing; from llmock import scenarios as s, verdict as v; \
        print(json.dumps([*s._TYPE_NAMES, \
        *('stream_fault ' + k for k in typing.get_args(s.StreamFaultKind)), \
        *('tool_fault ' + k for k in typing.get_args(s.ToolFaultKind)), \
        *(f'fail {n}' for n in v.NON_RETRYABLE | v.RETRYABLE)]))";
    let home = std::env::var("SERVERS_LLMOCK_HOME").map_err(|_| "where is llmock?".to_owned())?;
    let listed = Command::new(format!("{home}/bin/python")).args(["-c", LIST]).output();
    let listed = listed.await.map_err(|error| error.to_string())?;
    let offered: BTreeSet<String> = serde_json::from_slice(&listed.stdout)
        .map_err(|_| String::from_utf8_lossy(&listed.stderr).into_owned())?;
    let tools = TOOL_FAULTS.iter().map(|kind| format!("tool_fault {kind}"));
    let driven: Vec<String> =
        faults().iter().map(|fault| fault.name.to_owned()).chain(tools).collect();
    let begins = |offer: &String| {
        driven.iter().any(|name| name == offer || name.starts_with(&format!("{offer} ")))
    };
    let missing: Vec<_> = offered.iter().filter(|offer| !begins(offer)).collect();
    claim(missing.is_empty(), || format!("offered and not driven: {missing:?}"))?;
    Ok(Held::With(format!("{} kinds", offered.len())))
}
