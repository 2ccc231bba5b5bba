//! Decides how a model replaces or makes a file.
//!
//! Knows nothing about permission: who may write was decided before.

use std::time::Duration;

use async_trait::async_trait;
use runtime_ports::{
    EffectClass, OperationContext, PortFailure, Tool, ToolDescriptor, ToolInvocation, ToolReply,
    ToolWorld, WorkspaceSession,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    declared::{Declaration, path_schema},
    reply::{Ending, arguments, ended, told},
};

const EXPECTED: &str = "{path: string, content: string}";

/// The tool `write_file`.
pub(crate) struct WriteFile {
    descriptor: ToolDescriptor,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

impl WriteFile {
    pub(crate) fn new() -> Self {
        let declaration = Declaration {
            name: "write_file",
            description: "Replaces a whole file of the workspace, or makes it, with missing \
                folders. Protected names and paths through links are refused. Result: \
                {\"path\", \"bytes\": bytes written}.",
            arguments: vec![
                ("path", path_schema("File, from the root of the workspace.")),
                ("content", json!({ "type": "string", "description": "The whole new content." })),
            ],
            required: &["path", "content"],
            effect: EffectClass::WorkspaceWrite,
            timeout: Duration::from_secs(30),
        };
        Self { descriptor: declaration.into_descriptor() }
    }
}

#[async_trait]
impl Tool for WriteFile {
    fn descriptor(&self) -> &ToolDescriptor {
        &self.descriptor
    }

    async fn invoke(
        &self,
        operation: &OperationContext,
        world: &ToolWorld,
        call: ToolInvocation,
    ) -> Result<ToolReply, PortFailure> {
        ended(serve(operation, world.workspace.as_ref(), call.arguments).await)
    }
}

async fn serve(
    operation: &OperationContext,
    workspace: &dyn WorkspaceSession,
    given: Value,
) -> Result<ToolReply, Ending> {
    let Arguments { path, content } = arguments(given, EXPECTED)?;
    workspace.write(operation, &path, content.as_bytes()).await?;
    Ok(told(&json!({ "path": path, "bytes": content.len() })))
}
