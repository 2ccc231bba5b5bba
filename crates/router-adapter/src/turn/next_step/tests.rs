//! Holds the table to its whole grid.

use runtime_ports::{CommitDisposition, ModelFinish as Finish};

use super::{NextStep, after};

fn name(step: &NextStep) -> &str {
    match step {
        NextStep::Complete => "complete",
        NextStep::SurfaceCalls => "surface",
        NextStep::Fail(failure) => &failure.code,
    }
}

#[test]
fn every_answer_has_its_step() {
    let rows = [
        (Finish::Stop, ["complete", "complete", "max_requests_reached", "surface"]),
        (Finish::ToolCalls, ["complete", "complete", "max_requests_reached", "surface"]),
        (Finish::Length, ["model_output_limit"; 4]),
        (Finish::ContentFilter, ["content_filtered"; 4]),
        (Finish::Other, ["model_incomplete"; 4]),
    ];
    for (finish, expected) in rows {
        let grid = [(false, false), (false, true), (true, false), (true, true)];
        let steps = grid.map(|(has_calls, may_send)| after(finish, has_calls, may_send));
        assert_eq!(steps.each_ref().map(name), expected, "{finish:?}");
    }
}

#[test]
fn what_was_paid_for_is_committed() {
    for finish in [Finish::Length, Finish::ContentFilter, Finish::Other] {
        let NextStep::Fail(failure) = after(finish, false, true) else { panic!("{finish:?}") };
        assert_eq!(failure.commit, CommitDisposition::Committed);
        assert!(!failure.retryable);
    }
}
