//! Every suite of `port-conformance`, run by the fakes.
//!
//! The registry test of that crate reads this file: a suite that is missing here fails it.

mod harness;

mod model {
    port_conformance::model_conformance!(crate::harness::FakeModelHarness);
}

mod turn {
    port_conformance::turn_conformance!(crate::harness::FakeTurnHarness);
}

mod receipts {
    port_conformance::receipt_conformance!(crate::harness::FakeReceiptHarness);
}

mod interaction {
    port_conformance::interaction_conformance!(crate::harness::FakeInteractionHarness);
}

mod workspace {
    port_conformance::workspace_conformance!(crate::harness::FakeWorkspaceHarness);
}

mod artifacts {
    port_conformance::artifact_conformance!(crate::harness::FakeArtifactHarness);
}

mod resources {
    port_conformance::resource_conformance!(crate::harness::FakeResourceHarness);
}

mod subagents {
    port_conformance::subagent_conformance!(crate::harness::FakeSubagentHarness);
}

mod delegation {
    port_conformance::delegation_conformance!(crate::harness::FakeDelegationHarness);
}

mod conversation {
    port_conformance::conversation_conformance!(crate::harness::FakeConversationHarness);
}

mod trace {
    port_conformance::trace_conformance!(crate::harness::FakeTraceHarness);
}

mod context_audit {
    port_conformance::context_audit_conformance!(crate::harness::FakeAuditHarness);
}
