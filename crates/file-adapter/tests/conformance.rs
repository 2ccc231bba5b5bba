//! The suites of receipt stores, artifact stores, resources and context audits, run by the files.

mod harness;

mod receipts {
    port_conformance::receipt_conformance!(crate::harness::FileReceiptHarness);
}

mod artifacts {
    port_conformance::artifact_conformance!(crate::harness::FileArtifactHarness);
}

mod resources {
    port_conformance::resource_conformance!(crate::harness::FileResourceHarness);
}

mod context_audit {
    port_conformance::context_audit_conformance!(crate::harness::FileAuditHarness);
}
