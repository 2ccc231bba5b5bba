//! Decides whether the command does a task with a server, its tools included.

use std::process::Stdio;

use tokio::process::Command;

use crate::{
    calling::claim,
    results::{About, Held, Outcome, Results},
    speech::Speech,
};

/// One task in a folder: the model reads a file, and the answer is standard output.
pub(crate) async fn check(base: &str, speech: Speech, about: &About, results: &Results) {
    let Ok(agent) = std::env::var("SERVERS_AGENT") else { return };
    results.take(about, "agent run", run(&agent, base, &speech.name())).await;
}

async fn run(agent: &str, base: &str, api: &str) -> Outcome {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    let folder = |name: &str| place.path().join(name);
    let make = |name: &str, text: &str| {
        let path = folder(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(path, text)
    };
    make("folder/beds.txt", "bean\npea\nrose\n").map_err(|error| error.to_string())?;
    let configuration =
        format!("model = \"scripted\"\nbase_url = \"{base}/v1\"\napi = \"{api}\"\n");
    make("config/agent/config.toml", &configuration).map_err(|error| error.to_string())?;
    let ended = Command::new(agent)
        .args(["run", "What grows in beds.txt?"])
        .current_dir(folder("folder"))
        .env_clear()
        .env("HOME", place.path())
        .env("XDG_CONFIG_HOME", folder("config"))
        .env("XDG_STATE_HOME", folder("state"))
        .env("USER", "ada")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ended = ended.await.map_err(|error| format!("cannot run the command: {error}"))?;
    let (said, told) =
        (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    claim(ended.status.success(), || format!("{}: {said}{told}", ended.status))?;
    claim(said.trim() == "Beans, peas and roses.", || format!("it said {said:?}; {told}"))?;
    Ok(Held::Yes)
}
