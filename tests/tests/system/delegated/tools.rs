//! Decides what the tools of the children do: nothing, and ask the user.
//!
//! Knows nothing about the children.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use runtime_ports::{
    EffectClass, ModelToolDefinition, OperationContext, PortFailure, Tool, ToolDescriptor,
    ToolDirective, ToolInvocation, ToolKind, ToolReply, ToolWorld,
};
use serde_json::json;

/// Does nothing.
pub(super) const WORK: &str = "work";
/// Asks the user.
pub(super) const ASK: &str = "ask";

/// A tool that replies with nothing, and with a directive.
struct Plain(ToolDescriptor, ToolDirective);

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let plain = |name: &str, directive| {
        let description = format!("the tool {name}");
        let input_schema = json!({ "type": "object" });
        let descriptor = ToolDescriptor {
            definition: ModelToolDefinition { name: name.to_owned(), description, input_schema },
            kind: ToolKind::Function,
            effect: EffectClass::ReadOnly,
            idempotent: true,
            parallel: false,
            timeout: Duration::from_secs(10),
            output_limit_bytes: 1_000,
            version: "1".to_owned(),
        };
        Arc::new(Plain(descriptor, directive)) as Arc<dyn Tool>
    };
    vec![plain(WORK, ToolDirective::Continue), plain(ASK, ToolDirective::WaitUser)]
}

#[async_trait]
impl Tool for Plain {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.0
    }

    async fn invoke(
        &self,
        _: &OperationContext,
        _: &ToolWorld,
        _: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        Ok(ToolReply { directive: self.1, ..ToolReply::text("done") })
    }
}
