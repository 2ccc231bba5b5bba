//! Decides whether a run can be stored and read again whatever came into it, from whomever.

use std::sync::Arc;

use runtime_decision::{
    CallEdits, Collected, Edit, Happened, HookResult, HookVerdict, Input, Machine, Out, Outcome,
    Plan, RequestEdits, ResultEdits, RunIdentity, Task, ToolEnd, ToolOutput,
};
use runtime_ports::{
    ModelContent, ModelFinish, ModelMessage, ModelProfile, ModelResponse, ModelRole, TokenUsage,
    ToolReply,
};
use serde_json::{Map, Value, json};

use crate::notation::machine;

/// Deeper than any reader of JSON goes.
fn deep() -> Value {
    (0..1_000).fold(json!(1), |inner, _| json!([inner]))
}

fn deep_map() -> Map<String, Value> {
    Map::from_iter([("key".to_owned(), deep())])
}

fn deep_content() -> [ModelContent; 2] {
    let (id, name, issuer) = ("deep".to_owned(), "a".to_owned(), "somebody".to_owned());
    let text = "hm".to_owned();
    [
        ModelContent::Reasoning { issuer, text, opaque: deep() },
        ModelContent::ToolUse { id, name, arguments: deep() },
    ]
}

fn deep_message() -> ModelMessage {
    ModelMessage { role: ModelRole::Assistant, content: deep_content().to_vec() }
}

fn insert() -> Vec<Edit<ModelMessage>> {
    vec![
        Edit::Insert { at: 0, item: deep_message() },
        Edit::Replace { at: 9, item: deep_message() },
    ]
}

fn profile() -> ModelProfile {
    ModelProfile {
        context_window_tokens: 100_000,
        max_input_tokens: 100_000,
        max_output_tokens: None,
        images: true,
        price: None,
    }
}

fn response() -> ModelResponse {
    let (id, name) = ("c1".to_owned(), "a".to_owned());
    let call = ModelContent::ToolUse { id, name, arguments: json!({}) };
    ModelResponse {
        output: deep_content().into_iter().chain([call]).collect(),
        finish: ModelFinish::ToolCalls,
        usage: TokenUsage::default(),
        cost_nano_usd: None,
        attempts: Vec::new(),
    }
}

fn stored_and_read(run: &Machine) -> Machine {
    let stored = run.to_json();
    let read = Machine::from_json(Arc::clone(run.plan()), &stored).expect("it is read again");
    assert_eq!(read.to_json(), stored);
    read
}

fn deep_run() -> Machine {
    let script = "tool a\nwith before_cycle interruptions\n\
                  hook h before_memory_compact before_llm after_llm before_tool_call after_tool_call";
    let mut definition = machine(script).plan().definition().clone();
    definition.metadata = deep_map();
    let mut task = Task::new("go").after(vec![deep_message()]);
    (task.shared_state, task.metadata) = (deep_map(), deep_map());
    let plan = Arc::new(Plan::new(definition).expect("a definition"));
    Machine::new(plan, RunIdentity::root("r", "task", "agent"), task)
}

#[test]
fn s05_values_nested_too_deep_never_cost_a_stored_run() {
    let call_edits = CallEdits::default();
    let given = HookResult { metadata: deep_map(), ..HookResult::default() };
    let reply = ToolReply {
        metadata: deep_map(),
        state_writes: vec![("written".to_owned(), Some(deep()))],
        image: Some(deep_content()[1].clone()),
        ..ToolReply::text("x")
    };
    let collected = || Collected::Messages(vec![deep_message()]);
    let outcomes = [
        Outcome::ProfileResolved(Ok(profile())),
        Outcome::InputsCollected(collected()),
        Outcome::HookReturned(HookVerdict::Messages(insert())),
        Outcome::HookReturned(HookVerdict::Request(RequestEdits {
            messages: insert(),
            hide_tools: Vec::new(),
        })),
        Outcome::ModelReplied(Ok(response())),
        Outcome::HookReturned(HookVerdict::Response(vec![Edit::Insert {
            at: 0,
            item: deep_content()[0].clone(),
        }])),
        // The call with the deep arguments, which are no object.
        Outcome::HookReturned(HookVerdict::Call(Box::new(call_edits.clone()))),
        Outcome::HookReturned(HookVerdict::Result(Box::new(ResultEdits { result: Some(given) }))),
        Outcome::InterruptionsCollected(Collected::Messages(Vec::new())),
        Outcome::HookReturned(HookVerdict::Call(Box::new(call_edits))),
        Outcome::ArgumentsChecked(Ok(())),
        Outcome::ToolReturned(ToolEnd::Replied(Box::new(ToolOutput { reply, artifact: None }))),
        Outcome::HookReturned(HookVerdict::Result(Box::default())),
        Outcome::InterruptionsCollected(collected()),
    ];
    let mut run = stored_and_read(&deep_run());
    let mut out = Out::default();
    run.handle(Input { at_ms: 1, happened: Happened::Started }, &mut out).expect("it starts");
    for outcome in outcomes {
        let asked = run.pending().remove(0).id;
        run.handle(Input::settled(1, asked, outcome), &mut out).expect("it is waited for");
        // Loading takes it for a run that lost its process, so what is open is kept.
        run = stored_and_read(&run);
    }
    assert_eq!(run.cycle(), 2);
    let calls = run.history().messages().flat_map(|message| &message.content);
    let arguments = calls.filter_map(|item| match item {
        ModelContent::ToolUse { id, arguments, .. } if id == "deep" => Some(arguments),
        _ => None,
    });
    let arguments: Vec<_> = arguments.collect();
    let whole = Value::String(deep().to_string());
    assert_eq!(arguments, [&whole; 4], "of the task, of both providers, and of the model");
}

#[test]
fn s05_a_key_that_a_tool_set_to_null_is_null_after_a_suspension() {
    let begun = "state {\"a\":1,\"b\":2}\ntool w parallel\ntool p parallel\npolicy ask p\nstart\n\
                 model w(1) p(2)";
    for is_stored in [false, true] {
        let mut run = machine(begun);
        let mut out = Out::default();
        let writes = [("a", Some(Value::Null)), ("b", None), ("c", Some(json!([null])))];
        let state_writes = writes.map(|(key, value)| (key.to_owned(), value)).to_vec();
        let reply = ToolReply { state_writes, ..ToolReply::text("x") };
        let outcome =
            Outcome::ToolReturned(ToolEnd::Replied(Box::new(ToolOutput { reply, artifact: None })));
        let asked = |run: &Machine, name: &str| {
            let pending = run.pending().into_iter();
            let mut wanted = pending.filter(|it| format!("{:?}", it.effect).starts_with(name));
            wanted.next().expect("it is asked for").id
        };
        let tool = asked(&run, "InvokeTool");
        run.handle(Input::settled(1, tool, outcome), &mut out).expect("it is waited for");
        if is_stored {
            run = stored_and_read(&run);
        }
        let request_id = Arc::clone(&run.pending_approvals()[0]);
        let decision = runtime_ports::ApprovalDecision::Denied { reason: "no".to_owned() };
        let happened = Happened::Decided { request_id, decision };
        run.handle(Input { at_ms: 1, happened }, &mut out).expect("it is asked");
        run.handle(Input { at_ms: 1, happened: Happened::Cancelled }, &mut out).expect("it ends");
        let model = run.pending();
        if let [model] = &model[..] {
            let failed = Outcome::ModelReplied(Err(runtime_ports::PortFailure::canceled()));
            run.handle(Input::settled(1, model.id, failed), &mut out).expect("it was halted");
        }
        let state = Value::Object((*run.result().expect("a result").shared_state).clone());
        assert_eq!(state, json!({"a": null, "c": [null]}), "stored: {is_stored}");
    }
}

#[test]
fn s04_what_is_no_picture_is_not_shown_as_one() {
    let call = ModelContent::ToolUse { id: "x".into(), name: "a".into(), arguments: json!({}) };
    for image in [call, ModelContent::text("I allow everything.")] {
        let mut run = machine("tool a\nimages\nstart\nmodel a(1)");
        let reply = ToolReply { image: Some(image), ..ToolReply::text("done") };
        let output = Box::new(ToolOutput { reply, artifact: None });
        let outcome = Outcome::ToolReturned(ToolEnd::Replied(output));
        let tool = run.pending().remove(0).id;
        run.handle(Input::settled(1, tool, outcome), &mut Out::default()).expect("it runs");
        let last = run.history().messages().last().expect("a message");
        assert_eq!(last.role, ModelRole::Tool);
    }
}
