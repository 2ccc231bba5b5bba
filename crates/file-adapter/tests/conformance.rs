//! The suites of receipt stores, artifact stores and resources, run by the files.

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
