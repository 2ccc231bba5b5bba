//! Decides whether a task that is delegated comes to the same end whichever loop runs it: the cycle
//! engine, or the single-turn loop over the real router. Both run the whole suite of the port, over
//! children that one puppet of a model plays.

mod harness;
mod puppet;
mod receipts;
mod tools;

mod engine {
    port_conformance::subagent_conformance!(super::harness::EngineHarness);
}

mod single_turn {
    port_conformance::subagent_conformance!(super::harness::SingleTurnHarness);
}
