//! What a child is told, how far it may go, and what comes back.
//!
//! Knows nothing about how a child is made.

use runtime_ports::{CommitDisposition, PortFailureKind as Kind, SubagentRequest};

use crate::{
    Proof,
    claim::{failure, operation},
    subagents::{
        Child, SubagentHarness,
        sample::{plainly_named, request, staged},
    },
};

pub(crate) async fn an_answer_comes_back(harness: &dyn SubagentHarness) -> Proof {
    let answer = "\n  Four,\n\tand \"more\": 漢字 🦀\u{301}. \u{a0}\n";
    let staged = staged(harness, &[("2*2", Child::answers(answer))]).await?;
    staged.answers(&operation(), request("1", "2*2"), answer.trim()).await?;
    staged.answers(&plainly_named(), request("1", "2*2"), answer.trim()).await
}

pub(crate) async fn a_prompt_is_told_as_it_is(harness: &dyn SubagentHarness) -> Proof {
    let long = "Größe 漢字 🦀\n".repeat(8_000);
    let odd = "{{x}} <b> \"quoted\"\\ \u{0}\u{7}\r\n\t\u{301}%s";
    let prompts = [long.trim_end(), odd, "é", "🦀"];
    let children = prompts.map(|prompt| (prompt, Child::answers("told")));
    let staged = staged(harness, &children).await?;
    for (number, prompt) in prompts.into_iter().enumerate() {
        let asked = request(&number.to_string(), prompt);
        staged.answers(&operation(), asked, "told").await?;
        staged.took(prompt, 1)?;
    }
    Ok(())
}

pub(crate) async fn a_child_takes_its_turns(harness: &dyn SubagentHarness) -> Proof {
    for (turns, max_model_turns) in [(1, 1), (2, 2), (7, 7), (7, 100), (2, usize::MAX)] {
        let staged = staged(harness, &[("count", Child::answers("all").in_turn(turns))]).await?;
        let request = SubagentRequest { max_model_turns, ..request("1", "count") };
        staged.answers(&operation(), request, "all").await?;
        staged.took("count", turns)?;
    }
    Ok(())
}

pub(crate) async fn the_limit_of_turns_is_kept(harness: &dyn SubagentHarness) -> Proof {
    for (turns, max_model_turns) in [(2, 1), (4, 3), (90, 3)] {
        let staged = staged(harness, &[("count", Child::answers("all").in_turn(turns))]).await?;
        let request = SubagentRequest { max_model_turns, ..request("1", "count") };
        let outcome = staged.tried(&operation(), request).await?;
        failure("too long a task", outcome, Kind::Forbidden, CommitDisposition::Committed)?;
        staged.took("count", max_model_turns)?;
    }
    Ok(())
}

/// The request is refused, and nothing runs.
async fn is_invalid(harness: &dyn SubagentHarness, request: SubagentRequest) -> Proof {
    let prompt = request.prompt.clone();
    let staged = staged(harness, &[(&prompt, Child::answers("done"))]).await?;
    let outcome = staged.tried(&operation(), request).await?;
    failure("the call", outcome, Kind::Invalid, CommitDisposition::NotCommitted)?;
    staged.took(&prompt, 0)
}

pub(crate) async fn no_turns_are_invalid(harness: &dyn SubagentHarness) -> Proof {
    is_invalid(harness, SubagentRequest { max_model_turns: 0, ..request("1", "2*2") }).await
}

pub(crate) async fn a_blank_prompt_is_invalid(harness: &dyn SubagentHarness) -> Proof {
    for prompt in ["", " ", "\n\t \u{a0}"] {
        is_invalid(harness, request("1", prompt)).await?;
    }
    Ok(())
}
