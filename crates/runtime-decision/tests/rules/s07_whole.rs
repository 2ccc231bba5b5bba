//! Decides whether long conversations and long runs keep what they must (section 7), in runs that
//! are driven by hand.

use std::sync::Arc;

use runtime_decision::{
    CarriedContext, Definition, Effect, Happened, Input, Machine, Out, Outcome, Plan, RunIdentity,
    RunResult, Task, ToolEnd, ToolOutput,
};
use runtime_ports::{
    ModelContent, ModelFinish, ModelMessage, ModelProfile, ModelRequest, ModelResponse, ModelRole,
    TokenUsage, ToolReply, Transcript,
};
use serde_json::json;

use crate::{notation::tool, random::assert_paired};

/// A run that is answered at once: with calls until `cycles` are over, with results of `result`,
/// and with numbered summaries.
struct Answered {
    machine: Machine,
    window: u64,
    cycles: u32,
    result: String,
    requests: Vec<ModelRequest>,
    summaries: Vec<ModelRequest>,
}

impl Answered {
    fn new(task: Task, window: u64, cycles: u32, result: String) -> Self {
        let mut definition = Definition::new("agent", "model");
        definition.instructions = Some("be kind".into());
        definition.tools = vec![tool("pay")];
        definition.limits.max_cycles = cycles + 1;
        let plan = Arc::new(Plan::new(definition).expect("a definition"));
        let machine = Machine::new(plan, RunIdentity::root("r", "task", "agent"), task);
        let (requests, summaries) = (Vec::new(), Vec::new());
        Self { machine, window, cycles, result, requests, summaries }
    }

    /// Runs to the end; everything said on the way is kept.
    fn run(mut self) -> (RunResult, Vec<ModelRequest>, Vec<ModelRequest>) {
        let mut inputs = vec![Input { at_ms: 0, happened: Happened::Started }];
        let mut steered = 0;
        while let Some(input) = inputs.pop() {
            let mut out = Out::default();
            self.machine.handle(input, &mut out).expect("it fits");
            for asked in out.effects {
                let outcome = self.answer(asked.effect);
                inputs.push(Input::settled(0, asked.id, outcome));
            }
            if inputs.is_empty() {
                break;
            }
            if self.machine.cycle() % 40 == 39 && self.machine.cycle() != steered {
                steered = self.machine.cycle();
                let (steering_id, prompt) = (steered.into(), format!("mind № {steered}").into());
                let happened = Happened::Steered { steering_id, prompt };
                self.machine
                    .handle(Input { at_ms: 0, happened }, &mut Out::default())
                    .expect("it fits");
            }
        }
        (self.machine.result().expect("it ends"), self.requests, self.summaries)
    }

    fn answer(&mut self, effect: Effect) -> Outcome {
        match effect {
            Effect::ResolveProfile { .. } => Outcome::ProfileResolved(Ok(ModelProfile {
                context_window_tokens: self.window,
                max_input_tokens: self.window,
                max_output_tokens: None,
                images: false,
                price: None,
            })),
            Effect::CallModel(request) => {
                self.requests.push(request);
                Outcome::ModelReplied(Ok(self.reply()))
            }
            Effect::Summarize(request) => {
                self.summaries.push(request);
                let text = format!("<summary № {}>", self.summaries.len());
                Outcome::Summarized(Ok(said(vec![ModelContent::text(text)])))
            }
            Effect::CheckArguments { .. } => Outcome::ArgumentsChecked(Ok(())),
            Effect::InvokeTool(_) => {
                let reply = ToolReply::text(self.result.clone());
                Outcome::ToolReturned(ToolEnd::Replied(Box::new(ToolOutput {
                    reply,
                    artifact: None,
                })))
            }
            other => panic!("nothing else is asked for: {other:?}"),
        }
    }

    fn reply(&self) -> ModelResponse {
        match self.machine.cycle() > self.cycles {
            true => said(vec![ModelContent::text("done")]),
            false => said(vec![ModelContent::ToolUse {
                id: format!("c{}", self.machine.cycle()),
                name: "pay".to_owned(),
                arguments: json!({"euros": self.machine.cycle(), "why": "ж".repeat(60)}),
            }]),
        }
    }
}

fn said(output: Vec<ModelContent>) -> ModelResponse {
    let (usage, cost_nano_usd, attempts) = (TokenUsage::default(), None, Vec::new());
    ModelResponse { output, finish: ModelFinish::Stop, usage, cost_nano_usd, attempts }
}

fn users(messages: &Transcript) -> Vec<String> {
    let users = messages.messages().filter(|message| message.role == ModelRole::User);
    users.map(|message| format!("{:?}", message.content)).collect()
}

fn text_of(request: &ModelRequest) -> String {
    request.messages.messages().map(|message| format!("{:?}\n", message.content)).collect()
}

#[test]
fn s07_two_hundred_compactions_in_a_row() {
    let cycles = 800;
    let run = Answered::new(Task::new("pay it all"), 2_500, cycles, "é日".repeat(500));
    let (result, requests, summaries) = run.run();
    assert!(summaries.len() >= 200, "{} compactions", summaries.len());
    for request in &requests {
        assert_paired(request.messages.messages());
        assert!(request.messages.estimated_tokens() < 2_500);
        assert!(users(&request.messages).iter().any(|said| said.contains("pay it all")));
    }
    // The original is whole: the system message, the prompt, a call and a result a cycle, what was
    // said meanwhile, and the answer.
    let steered = users(&result.history).len() - 1;
    assert_eq!(result.history.len(), 3 + 2 * cycles as usize + steered);
    assert_paired(result.history.messages());
    let last = users(&requests.last().expect("a request").messages);
    for said in users(&result.history) {
        assert!(last.contains(&said), "a word of the user is gone: {said}");
    }
    // No summary is lost: each is part of what the next is made of.
    for (number, request) in summaries.iter().enumerate().skip(1) {
        assert!(text_of(request).contains(&format!("<summary № {number}>")), "summary {number}");
    }
}

#[test]
fn s07_a_conversation_goes_on_with_its_context_and_keeps_its_history() {
    let (mut messages, mut context) = (Vec::new(), None::<CarriedContext>);
    let mut summed = 0;
    for turn in 0..6_u32 {
        let mut task = Task::new(format!("turn {turn}")).after(messages.clone());
        task.context = context.take();
        let (result, requests, summaries) = Answered::new(task, 3_000, 5, "é日".repeat(300)).run();
        assert!(result.warnings.is_empty(), "{:?}", result.warnings);
        for request in &requests {
            assert_paired(request.messages.messages());
        }
        // A request of a later turn begins where the one before ended, not with the whole history.
        if turn > 2 {
            assert!(requests[0].messages.len() < messages.len(), "the context was not taken up");
        }
        let before: Transcript = messages.clone().into();
        assert_eq!(result.history.prefix(before.len()), before, "the history was rewritten");
        assert_eq!(users(&result.history).len(), turn as usize + 1);
        summed += summaries.len();
        messages = result.history.messages().cloned().collect();
        let written = serde_json::to_string(&result.context).expect("JSON");
        context = serde_json::from_str(&written).expect("a context");
    }
    assert!(summed > 2 && context.is_some(), "{summed} summaries");
}

#[test]
fn s07_a_context_of_another_history_is_left_with_a_warning() {
    let (result, ..) = Answered::new(Task::new("pay"), 3_000, 20, "é日".repeat(300)).run();
    let mut task = Task::new("other").after(vec![ModelMessage::text(ModelRole::User, "else")]);
    task.context = result.context;
    assert!(task.context.is_some(), "nothing was compacted");
    let (result, ..) = Answered::new(task, 3_000, 0, String::new()).run();
    assert_eq!(result.warnings.len(), 1, "{:?}", result.warnings);
    assert!(result.context.is_none());
}

/// The same run with all windows comes to the same history: compaction changes requests alone.
#[test]
fn s07_the_history_does_not_depend_on_the_window() {
    let run = |window| Answered::new(Task::new("pay"), window, 12, "é日".repeat(200)).run();
    let (straight, requests, summaries) = run(0);
    assert!(summaries.is_empty());
    assert_eq!(requests.last().map(|it| it.messages.len() + 1), Some(straight.history.len()));
    for window in [1_500, 2_000, 5_000] {
        let calls = |history: &Transcript| {
            let tools = history.messages().filter(|it| it.role != ModelRole::User);
            tools.cloned().collect::<Vec<_>>()
        };
        assert_eq!(calls(&run(window).0.history), calls(&straight.history));
    }
}
