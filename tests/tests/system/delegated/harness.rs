//! Decides how the puppet becomes the model of an agent, and of a router.
//!
//! Knows nothing about what the scenarios expect.

use std::sync::Arc;

use async_trait::async_trait;
use port_conformance::{
    Unstageable,
    subagents::{Child, ChildEnd, StagedSubagents, SubagentCapabilities, SubagentHarness},
};
use router_adapter::Router;
use runtime_kernel::{
    AgentRuntime, DelegateHost, RunSubagents, RunTemplate, ToolHost,
    engine::{Agent, EngineSubagents, closed_world},
};

use super::{puppet::puppet, tools::tools};

const MODEL: &str = "puppet";

/// Children that are runs of an engine agent.
pub(super) struct EngineHarness;

/// Children that are runs of the single-turn loop, over the router.
pub(super) struct SingleTurnHarness;

#[async_trait]
impl SubagentHarness for EngineHarness {
    fn capabilities(&self) -> SubagentCapabilities {
        SubagentCapabilities::ALL
    }

    async fn stage(&self, children: Vec<(String, Child)>) -> Result<StagedSubagents, Unstageable> {
        let puppet = puppet(children);
        let agent = Agent::builder("child", puppet.clone(), MODEL).tools(tools()).build();
        let agent = agent.expect("an agent with two tools");
        Ok(StagedSubagents { session: Arc::new(EngineSubagents::new(agent)), nursery: puppet })
    }
}

#[async_trait]
impl SubagentHarness for SingleTurnHarness {
    fn capabilities(&self) -> SubagentCapabilities {
        SubagentCapabilities { can_ask: false }
    }

    async fn stage(&self, children: Vec<(String, Child)>) -> Result<StagedSubagents, Unstageable> {
        if children.iter().any(|(_, child)| matches!(child.end, ChildEnd::Asks(_))) {
            return Err(Unstageable::because("the loop has no use for directives of its tools"));
        }
        let puppet = puppet(children);
        let router = Router::single(puppet.clone(), MODEL);
        let template =
            RunTemplate { user_id: "ada".into(), model: MODEL.into(), ..RunTemplate::default() };
        let children = RunSubagents::new(AgentRuntime::new(Arc::new(router)), template);
        let session = children.hosted_by(|operation, _| {
            let host = ToolHost::new(tools(), closed_world()).expect("two tools");
            Box::new(DelegateHost::new(operation.clone(), host))
        });
        Ok(StagedSubagents { session: Arc::new(session), nursery: puppet })
    }
}
