//! Decides whether a run begins with what it was given (section 1).

use crate::notation::check;

#[test]
fn s01_without_messages_the_history_is_an_optional_system_message_and_the_prompt() {
    check(
        r#"
        instructions "be kind"
        prompt "say hé"
        start
        show request
        model "hi"
        "#,
        r#"
        > cycle_started after 2 messages | -> model 2 messages
        # system "be kind" | user "say hé"
        > cycle_llm_response "hi" | run_completed "hi"
        = completed "hi"
        = system "be kind" | user "say hé" | assistant "hi"
        "#,
    );
    check(
        r#"
        instructions "  "
        start
        show request
        model "hi"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        # user "go"
        > cycle_llm_response "hi" | run_completed "hi"
        = completed "hi"
        = user "go" | assistant "hi"
        "#,
    );
}

#[test]
fn s01_with_messages_a_system_message_is_put_in_front_only_when_the_first_is_none() {
    check(
        r#"
        instructions "be kind"
        said user "earlier"
        said assistant "yes"
        start
        show request
        model "hi"
        "#,
        r#"
        > cycle_started after 4 messages | -> model 4 messages
        # system "be kind" | user "earlier" | assistant "yes" | user "go"
        > cycle_llm_response "hi" | run_completed "hi"
        = completed "hi"
        = system "be kind" | user "earlier" | assistant "yes" | user "go" | assistant "hi"
        "#,
    );
    check(
        r#"
        instructions "be kind"
        said system "be curt"
        said user "earlier"
        start
        show request
        model "hi"
        "#,
        r#"
        > cycle_started after 3 messages | -> model 3 messages
        # system "be curt" | user "earlier" | user "go"
        > cycle_llm_response "hi" | run_completed "hi"
        = completed "hi"
        = system "be curt" | user "earlier" | user "go" | assistant "hi"
        "#,
    );
}

#[test]
fn s01_the_prompt_is_appended_only_when_it_says_something() {
    check(
        r#"
        prompt " "
        said user "earlier"
        start
        show request
        model "hi"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        # user "earlier"
        > cycle_llm_response "hi" | run_completed "hi"
        = completed "hi"
        = user "earlier" | assistant "hi"
        "#,
    );
}

#[test]
fn s01_a_run_that_may_not_be_interrupted_cannot_ask_the_user() {
    check(
        r#"
        tool ask_user
        tool a
        no interruption
        start
        model ask_user(1)
        model "then not"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages with [a]
        > cycle_llm_response "" ask_user(1) | tool_call_planned ask_user(1)
        | tool_result ask_user(1) !tool_not_allowed | cycle_started after 3 messages
        | -> model 3 messages with [a]
        > cycle_llm_response "then not" | run_completed "then not"
        = completed "then not"
        = user "go" | assistant ask_user(1) | tool result(1) !tool_not_allowed
        | assistant "then not"
        "#,
    );
}

#[test]
fn s01_tools_are_advertised_in_the_order_of_their_names_without_what_the_run_leaves_out() {
    check(
        r#"
        tool c
        tool task_finish
        tool b
        tool a
        without b
        start
        model b(1)
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages with [a c]
        > cycle_llm_response "" b(1) | tool_call_planned b(1) | tool_result b(1) !tool_not_allowed
        | cycle_started after 3 messages | -> model 3 messages with [a c]
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant b(1) | tool result(1) !tool_not_allowed | assistant "done"
        "#,
    );
    check(
        r#"
        silence continue
        tool task_finish
        tool a
        start
        model task_finish(1)
        1 "done" finish
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" task_finish(1) | tool_call_planned task_finish(1)
        | tool_call_started task_finish(1) | -> task_finish(1)
        > tool_result task_finish(1) "done" finish | run_completed "done"
        = completed "done"
        = user "go" | assistant task_finish(1) | tool result(1) "done"
        "#,
    );
}

#[test]
fn s01_metadata_of_the_task_lies_over_that_of_the_agent_and_configures_nothing() {
    check(
        r#"
        tool a
        agent_meta {"who":"agent","max_cycles":1}
        meta {"who":"task"}
        state {"seen":1}
        start
        model a(1)
        1 "one"
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1) state {"seen":1} meta {"max_cycles":1,"who":"task"}
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        = state {"seen":1}
        "#,
    );
}

#[test]
fn s01_a_run_has_eight_cycles_unless_it_is_said_otherwise() {
    let cycles = |count: usize| {
        let calls = (1..=count).map(|id| format!("model a({id})\n{id} \"x\"\n"));
        format!("tool a\nstart\n{}", calls.collect::<String>())
    };
    let eight = crate::notation::happens(&cycles(8));
    assert!(eight.contains("= max_cycles \"\""), "{eight}");
    let seven = crate::notation::happens(&cycles(7));
    assert!(seven.ends_with("= awaiting_model"), "{seven}");
}

#[test]
fn s01_a_task_without_cycles_still_has_one() {
    check(
        r#"
        task_cycles 0
        tool a
        start
        model "hm" a(1)
        1 "one"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "hm" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | run_max_cycles "hm"
        = max_cycles "hm"
        = user "go" | assistant "hm" a(1) | tool result(1) "one"
        "#,
    );
}

#[test]
fn s01_pictures_are_shown_to_a_model_that_takes_them_when_the_task_wants_it() {
    check(
        r#"
        tool a
        window 100000
        images
        start
        model a(1) a(2)
        1 "one" image
        2 "two"
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) a(2) | tool_call_planned a(1) | tool_call_started a(1)
        | -> a(1)
        > tool_result a(1) "one" | tool_call_planned a(2) | tool_call_started a(2) | -> a(2)
        > tool_result a(2) "two" | cycle_started after 5 messages | -> model 5 messages
        # user "go" | assistant a(1) a(2) | tool result(1) "one" | tool result(2) "two"
        | user "The picture that a gave:" image
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) a(2) | tool result(1) "one" | tool result(2) "two"
        | user "The picture that a gave:" image | assistant "done"
        "#,
    );
    check(
        r#"
        tool a
        start
        model a(1)
        1 "one" image
        show request
        model "done"
        "#,
        r#"
        > cycle_started after 1 messages | -> model 1 messages
        > cycle_llm_response "" a(1) | tool_call_planned a(1) | tool_call_started a(1) | -> a(1)
        > tool_result a(1) "one" | cycle_started after 3 messages | -> model 3 messages
        # user "go" | assistant a(1) | tool result(1) "one"
        > cycle_llm_response "done" | run_completed "done"
        = completed "done"
        = user "go" | assistant a(1) | tool result(1) "one" | assistant "done"
        "#,
    );
}

#[test]
fn s01_a_definition_that_could_not_run_is_refused() {
    use runtime_decision::{Definition, DefinitionError, NoToolPolicy, Plan};

    use crate::notation::{definition, tool};

    let refused = |change: &dyn Fn(&mut Definition)| {
        let mut offered = definition();
        change(&mut offered);
        Plan::new(offered).expect_err("a definition that cannot run")
    };
    let name = "a".to_owned();
    assert_eq!(
        refused(&|it| it.tools = vec![tool("a"), tool("a")]),
        DefinitionError::DuplicateToolName { name }
    );
    let name = "call_ktool".to_owned();
    assert_eq!(
        refused(&|it| it.tools = vec![tool("call_ktool")]),
        DefinitionError::ReservedToolName { name }
    );
    assert_eq!(
        refused(&|it| it.tools = vec![tool("")]),
        DefinitionError::InvalidToolName { bytes: 0 }
    );
    assert_eq!(
        refused(&|it| it.tools = vec![tool(&"é".repeat(129))]),
        DefinitionError::InvalidToolName { bytes: 258 }
    );
    assert_eq!(refused(&|it| it.limits.max_cycles = 0), DefinitionError::NoCycles);
    assert_eq!(
        refused(&|it| it.no_tool_policy = NoToolPolicy::Continue),
        DefinitionError::NoWayToFinish
    );
}
