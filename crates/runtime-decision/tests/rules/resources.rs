//! Decides what becomes of instructions and skills that are loaded when a run starts.

use std::sync::Arc;

use runtime_decision::{
    Definition, Effect, Happened, Input, Machine, Out, Outcome, Plan, RunIdentity, Task,
};
use runtime_ports::{ModelProfile, ResourceSnapshot};

use crate::notation::{check, machine, shown};

#[test]
fn resources_are_loaded_beside_the_profile_and_placed_before_the_first_request() {
    check(
        r#"
        with resources
        instructions "Be kind."
        start alone
        profile
        resources "Be brief." "Be exact." skill "bake" "Use butter."
        show request
        model "done"
        "#,
        r#"
        > run_started | -> profile | -> resources
        > resources_loaded 2+1 | cycle_started after 2 messages | -> model 3 messages
        # system "Be kind." | system "Be brief.\n\nBe exact.\n\n# Skill: bake\n\nUse butter."
        | user "go"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = system "Be kind." | user "go" | assistant "done"
        "#,
    );
    check(
        r#"
        with resources
        start alone
        resources "Be brief."
        profile
        show request
        model "done"
        "#,
        r#"
        > run_started | -> profile | -> resources
        > resources_loaded 1+0
        > cycle_started after 1 messages | -> model 2 messages
        # system "Be brief." | user "go"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn resources_are_none_of_the_history_and_stay_what_they_are() {
    check(
        r#"
        with resources
        tool a
        said user "earlier"
        start alone
        profile
        resources "Be brief."
        model a(1)
        suspend
        1 "one"
        store
        resume
        show request
        model "done"
        "#,
        r#"
        > run_started | -> profile | -> resources
        > resources_loaded 1+0 | cycle_started after 2 messages | -> model 3 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > -x 6 settle
        > tool_result a(1) "one" | run_suspended
        > run_resumed | cycle_started after 4 messages | -> model 5 messages
        # system "Be brief." | user "earlier" | user "go" | assistant a(1) | tool result(1) "one"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "earlier" | user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

/// The messages of the first request of a run that goes on with what one under resources left.
fn goes_on(resources: bool, loaded: Option<ResourceSnapshot>) -> Vec<String> {
    let run = machine("with resources\nstart alone\nprofile\nresources \"Old.\"\nmodel \"done\"");
    let result = run.result().expect("it has ended");
    assert!(result.context.is_some(), "it has nothing to go on with");
    let mut task = Task::new("more").after(result.history.messages().cloned().collect::<Vec<_>>());
    task.context = result.context;
    let mut definition = Definition::new("agent", "model");
    definition.callbacks.resources = resources;
    let plan = Arc::new(Plan::new(definition).expect("a definition"));
    let mut run = Machine::new(plan, RunIdentity::root("r", "task", "agent"), task);
    let mut inputs = vec![Input { at_ms: 0, happened: Happened::Started }];
    while let Some(input) = inputs.pop() {
        let mut out = Out::default();
        run.handle(input, &mut out).expect("it fits");
        for asked in out.effects {
            let outcome = match asked.effect {
                Effect::ResolveProfile { .. } => Outcome::ProfileResolved(Ok(ModelProfile {
                    context_window_tokens: 0,
                    max_input_tokens: 0,
                    max_output_tokens: None,
                    images: false,
                    price: None,
                })),
                Effect::LoadResources => {
                    Outcome::ResourcesLoaded(Ok(loaded.clone().expect("a snapshot")))
                }
                Effect::CallModel(request) => {
                    return request.messages.messages().map(shown).collect();
                }
                other => panic!("nothing else is asked for: {other:?}"),
            };
            inputs.push(Input::settled(0, asked.id, outcome));
        }
    }
    panic!("no request was made");
}

#[test]
fn a_run_that_goes_on_without_resources_does_not_keep_those_of_the_run_before() {
    let plain = [r#"user "go""#, r#"assistant "done""#, r#"user "more""#];
    assert_eq!(goes_on(false, None), plain);
    let snapshot = |texts: &[&str]| {
        let instructions = texts.iter().map(|text| (*text).to_owned()).collect();
        ResourceSnapshot::new(instructions, Default::default())
    };
    assert_eq!(goes_on(true, Some(snapshot(&[" "]))), plain);
    let told = goes_on(true, Some(snapshot(&["New."])));
    assert_eq!(told[0], r#"system "New.""#);
    assert_eq!(told[1..], plain);
}

#[test]
fn empty_resources_leave_the_request_as_it_is() {
    check(
        r#"
        with resources
        start alone
        profile
        resources " "
        show request
        model "done"
        "#,
        r#"
        > run_started | -> profile | -> resources
        > resources_loaded 1+0 | cycle_started after 1 messages | -> model 1 messages
        # user "go"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}

#[test]
fn resources_that_cannot_be_had_end_the_run() {
    check(
        r#"
        with resources
        start alone
        resources fails
        "#,
        r#"
        > run_started | -> profile | -> resources
        > -x 1 withdraw | run_failed resources_failed
        = failed resources_failed
        = user "go"
        "#,
    );
    check(
        r#"
        with resources
        start alone
        profile fails
        "#,
        r#"
        > run_started | -> profile | -> resources
        > -x 2 withdraw | run_failed model_profile_failed
        = failed model_profile_failed
        = user "go"
        "#,
    );
    check(
        r#"
        with resources
        start alone
        profile
        cancel
        "#,
        r#"
        > run_started | -> profile | -> resources
        > -x 2 withdraw | run_cancelled
        = cancelled
        = user "go"
        "#,
    );
}

#[test]
fn resources_that_take_too_much_of_the_input_end_the_run() {
    let text = "word ".repeat(400);
    let script = format!("with resources\nstart alone\nresources {text:?}\nprofile");
    let told = crate::notation::happens(&script);
    assert!(told.ends_with("= failed resources_too_large\n= user \"go\""), "{told}");
}

#[test]
fn a_load_that_was_stopped_is_asked_for_again() {
    check(
        r#"
        with resources
        start alone
        suspend
        profile
        resources halted
        store
        show pending
        resume
        resources "Be brief."
        model "done"
        "#,
        r#"
        > run_started | -> profile | -> resources
        > -x 1 settle | -x 2 settle
        > run_suspended
        # 3 held -> resources
        > run_resumed | -> resources
        > resources_loaded 1+0 | cycle_started after 1 messages | -> model 2 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
    check(
        r#"
        with resources
        start alone
        profile
        crash
        resume
        resources "Be brief."
        model "done"
        "#,
        r#"
        > run_started | -> profile | -> resources
        > run_resumed | -> resources
        > resources_loaded 1+0 | cycle_started after 1 messages | -> model 2 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant "done"
        "#,
    );
}
