//! Decides whether the agent can give parts of its task away, and how that is shown.

use serde_json::json;

use crate::{
    model_server::{ModelServer, Reply},
    place::Place,
};

#[test]
fn a_sub_agent_works_in_the_same_folder_and_is_shown_below_its_parent() {
    let place = Place::empty();
    place.put("ideas.md", "grow beans\n");
    let task = json!({ "agent_name": "worker", "task_description": "read ideas.md" });
    let server = ModelServer::playing([
        Reply::call("create_sub_task", task),
        Reply::call("read_file", json!({ "path": "ideas.md" })),
        Reply::text("It is about beans."),
        Reply::text("Beans are planned."),
    ]);
    let ended = place.run_with(&server, &["--sub-agents", "--model", "m", "what is planned?"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "Beans are planned.\n"), "{ended:?}");
    let below = ended.stderr.lines().find(|line| line.contains("read_file ideas.md"));
    assert!(below.is_some_and(|line| line.starts_with("  ")), "{ended:?}");
    let told = server.requests()[3].body["messages"].to_string();
    assert!(told.contains("It is about beans."), "{told}");
}

#[test]
fn nothing_is_given_away_unless_it_is_asked_for() {
    let (place, server) = (Place::empty(), ModelServer::playing([Reply::text("Hello.")]));
    let ended = place.run_with(&server, &["--model", "m", "say hello"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let sent = server.requests()[0].body.to_string();
    assert!(!sent.contains("create_sub_task"), "{sent}");
}
