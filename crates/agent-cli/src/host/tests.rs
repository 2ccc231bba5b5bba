//! Decides whether each round is identified by all that the model was told and did before it.

use std::{sync::Arc, time::Duration};

use in_memory_fakes::{FakeArtifacts, FakeInteraction, FakeResources, FakeWorkspace};
use runtime_kernel::{ToolCall, ToolHost};
use runtime_ports::{
    AgentContinuation, AgentProvider, InteractionSession, OperationContext, ToolWorld,
};
use runtime_types::{ExecutionId, OperationId};
use serde_json::json;
use standard_tools::standard_tools;

use super::{ASK_FOR_ANSWER, Host, Progress};
use crate::{approval::Approvals, event::Event, show::Show};

struct Unseen;

impl Show for Unseen {
    fn show(&self, _event: &Event) {}

    fn note(&self, _text: &str) {}
}

fn host() -> Host {
    let (id, run) = (OperationId::new("op").unwrap(), ExecutionId::new("run").unwrap());
    let interaction: Arc<dyn InteractionSession> = Arc::new(FakeInteraction::new([]));
    let world = ToolWorld {
        workspace: Arc::new(FakeWorkspace::new([])),
        interaction: Arc::clone(&interaction),
        resources: Arc::new(FakeResources::new(Vec::<String>::new())),
        artifacts: Arc::new(FakeArtifacts::new()),
    };
    let show: Arc<dyn Show> = Arc::new(Unseen);
    Host {
        task: "the task".to_owned(),
        instructions: "the instructions".to_owned(),
        model: "m".to_owned(),
        operation: OperationContext::root(id, run, Duration::from_secs(5)),
        tools: ToolHost::new(standard_tools(), world).unwrap(),
        approvals: Arc::new(Approvals::new(interaction, Arc::clone(&show), false)),
        show,
        progress: Progress::default(),
    }
}

#[tokio::test]
async fn the_input_of_a_round_holds_what_went_before_and_the_provider_gets_what_is_new() {
    let mut host = host();
    let first = host.prepare(1);
    assert_eq!(first.input, "the instructions\n\nthe task");
    assert_eq!(first.provider_input, "the task");
    let call = ToolCall { name: "fly".to_owned(), arguments: json!({ "to": "the moon" }) };
    let outcome = host.serve(Ok(call)).await.unwrap();
    let (provider, provider_model) = (AgentProvider::new("p"), "m".to_owned());
    let thread_id = "t".to_owned();
    host.progress.continuation = Some(AgentContinuation { provider, provider_model, thread_id });
    let second = host.prepare(2);
    let done = format!("fly {{\"to\":\"the moon\"}}\n\n{}", outcome.text);
    assert_eq!(second.input, format!("{}\n\n{done}\n\n{ASK_FOR_ANSWER}", first.input));
    assert_eq!(second.provider_input, ASK_FOR_ANSWER);
}
