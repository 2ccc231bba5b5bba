//! Decides which port has a suite, and says of every other why it has none yet.
//!
//! Knows the ports by name. Invariant, held by a test: every public trait of `runtime-ports` is
//! listed here, and every suite is run by the fakes and has a saboteur.

use crate::{
    artifacts, context_audit, conversation, delegation, interaction, model, receipts, resources,
    subagents, trace, turn, workspace,
};

/// A public trait of `runtime-ports`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// Name of the trait.
    pub name: &'static str,
    /// Whether there is a suite for it.
    pub suite: Suite,
}

/// The suite of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// The port's contract is tried by this suite.
    Here {
        /// Module of this crate, and of its saboteurs.
        module: &'static str,
        /// The macro that makes its tests.
        macro_name: &'static str,
        /// How many scenarios it has.
        scenarios: usize,
    },
    /// There is none. Who first uses the port brings it.
    NotYet {
        /// What has to come first.
        reason: &'static str,
    },
}

const MODEL: Suite = Suite::Here {
    module: "model",
    macro_name: "model_conformance",
    scenarios: model::SCENARIOS.len(),
};

const TURN: Suite = Suite::Here {
    module: "turn",
    macro_name: "turn_conformance",
    scenarios: turn::SCENARIOS.len(),
};

const RECEIPTS: Suite = Suite::Here {
    module: "receipts",
    macro_name: "receipt_conformance",
    scenarios: receipts::SCENARIOS.len(),
};

const WORKSPACE: Suite = Suite::Here {
    module: "workspace",
    macro_name: "workspace_conformance",
    scenarios: workspace::SCENARIOS.len(),
};

const INTERACTION: Suite = Suite::Here {
    module: "interaction",
    macro_name: "interaction_conformance",
    scenarios: interaction::SCENARIOS.len(),
};

const ARTIFACTS: Suite = Suite::Here {
    module: "artifacts",
    macro_name: "artifact_conformance",
    scenarios: artifacts::SCENARIOS.len(),
};

const RESOURCES: Suite = Suite::Here {
    module: "resources",
    macro_name: "resource_conformance",
    scenarios: resources::SCENARIOS.len(),
};

const SUBAGENTS: Suite = Suite::Here {
    module: "subagents",
    macro_name: "subagent_conformance",
    scenarios: subagents::SCENARIOS.len(),
};

const DELEGATION: Suite = Suite::Here {
    module: "delegation",
    macro_name: "delegation_conformance",
    scenarios: delegation::SCENARIOS.len(),
};

const CONVERSATION: Suite = Suite::Here {
    module: "conversation",
    macro_name: "conversation_conformance",
    scenarios: conversation::SCENARIOS.len(),
};

const TRACE: Suite = Suite::Here {
    module: "trace",
    macro_name: "trace_conformance",
    scenarios: trace::SCENARIOS.len(),
};

const CONTEXT_AUDIT: Suite = Suite::Here {
    module: "context_audit",
    macro_name: "context_audit_conformance",
    scenarios: context_audit::SCENARIOS.len(),
};

const fn not_yet(reason: &'static str) -> Suite {
    Suite::NotYet { reason }
}

const fn port(name: &'static str, suite: Suite) -> Port {
    Port { name, suite }
}

/// Every port, in the order of their names.
pub const PORTS: &[Port] = &[
    port("AgentTurn", TURN),
    port("ArtifactStore", ARTIFACTS),
    port("ContextAuditSession", CONTEXT_AUDIT),
    port("ConversationSession", CONVERSATION),
    port("DeltaSink", MODEL),
    port("ExecutionJournal", not_yet("provisional until runs are durable")),
    port("ExecutionSessionFactory", DELEGATION),
    port("Intelligence", TURN),
    port("InteractionSession", INTERACTION),
    port("ModelSession", MODEL),
    port("ReceiptStore", RECEIPTS),
    port("ResourceSession", RESOURCES),
    port("RuntimeInstanceResolver", not_yet("nothing resolves instances before the service does")),
    port("SubagentSession", SUBAGENTS),
    port("Tool", not_yet("tools are held by the tests of their crates until others bring theirs")),
    port("TraceReader", TRACE),
    port("TraceSession", TRACE),
    port("WorkspaceSession", WORKSPACE),
];
