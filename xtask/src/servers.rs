//! Decides which servers that others wrote the adapters are tried against, and when.
//!
//! Knows how they are installed and started; what is asked of them, and what must come back, is the
//! test `servers` of `system-tests`, which gets their addresses from the environment. Everything is
//! on 127.0.0.1 and under `target/servers`.

mod installed;
mod page;
mod patience;
mod running;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, ensure};

use crate::{built, workspace::Workspace};
use installed::Installed;
use running::{Running, Start};

/// Longest time for all checks against the scripted servers, and against real ones.
const CHECKS: Duration = Duration::from_secs(300);
const ALL_CHECKS: Duration = Duration::from_secs(1_800);

/// The key of the proxy, which wants a long one. It opens nothing but a server on this machine.
const PROXY_KEY: &str = "sk-of-a-proxy-on-this-machine-0123456789";

/// Options of the command.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Also a llama.cpp server with a small model, and a LiteLLM proxy before it: about a gigabyte
    /// to install, and minutes to run.
    #[arg(long)]
    all: bool,
    /// Writes the results to docs/compatibility.md; wants --all.
    #[arg(long, requires = "all")]
    write: bool,
}

/// The step of `ci`: the scripted servers.
pub(crate) fn scripted(workspace: &Workspace) -> anyhow::Result<()> {
    run(workspace, &Options { all: false, write: false })
}

/// The step of `ci --full`: also those with a model.
pub(crate) fn real(workspace: &Workspace) -> anyhow::Result<()> {
    run(workspace, &Options { all: true, write: false })
}

/// Installs and starts the servers and runs the checks.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> anyhow::Result<()> {
    let folder = workspace.root().join("target/servers");
    fs::create_dir_all(folder.join("logs"))?;
    let installed = Installed::within(&folder, &workspace.root().join("xtask/servers"));
    let mut servers = scripted_servers(&installed)?;
    if options.all {
        servers.extend(real_servers(&installed, &folder)?);
    }
    let programs = built::programs(workspace, &["servers", "command"])?;
    let report = folder.join("report.json");
    let patience = if options.all { ALL_CHECKS } else { CHECKS };
    let checked = check(&servers, &programs["servers"], &programs["agent"], &report, patience);
    if let Err(error) = checked {
        servers.iter().for_each(Running::show_log);
        return Err(error);
    }
    drop(servers);
    if options.write {
        page::write(&workspace.root().join("docs/compatibility.md"), &report)?;
    }
    Ok(())
}

fn check(
    servers: &[Running],
    program: &Path,
    agent: &Path,
    report: &Path,
    most: Duration,
) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command.env("SERVERS_AGENT", agent).env("SERVERS_REPORT", report).stdin(Stdio::null());
    for server in servers {
        command.envs(server.environment());
    }
    let ended = patience::finish(&mut command, most).context("cannot run the checks")?;
    ensure!(ended, "the checks against the servers failed");
    Ok(())
}

fn scripted_servers(installed: &Installed) -> anyhow::Result<Vec<Running>> {
    let aimock = installed.aimock()?;
    let llmock = installed.python("llmock")?;
    let script = installed.recipes().join("aimock/fixtures.json");
    let scripted = Start::new("AIMOCK", "/health").run(|port| {
        let mut command = Command::new(&aimock.node);
        command.arg(&aimock.script).args(["-h", "127.0.0.1", "-p", &port.to_string()]);
        command.args(["--validate-on-load", "--journal-max", "10"]).arg("-f").arg(&script);
        command
    });
    let referee = |name: &'static str, more: &'static [&'static str]| {
        let llmock = llmock.clone();
        Start::new(name, "/health").run(move |port| {
            let mut command = Command::new(llmock.join("bin/llmock"));
            command.args(["serve", "--host", "127.0.0.1", "--log-level", "warning"]);
            command.args(["--port", &port.to_string()]).args(more);
            command
        })
    };
    // It judges all that it saw, so that each API has one for itself. Words come one by one, so that
    // an answer can be given up amid.
    const PACED: &[&str] = &["--stream-chunk-delay-ms", "5"];
    let chat = referee("LLMOCK_CHAT", PACED).with("SERVERS_LLMOCK_HOME", &llmock);
    let responses = referee("LLMOCK_RESPONSES", PACED);
    let messages = referee("LLMOCK_MESSAGES", PACED);
    // Quotas and windows are settings of the whole server.
    let narrow = referee("LLMOCK_NARROW", &["--rpm", "30", "--context-window", "400"]);
    let folder = installed.logs();
    [scripted, chat, responses, messages, narrow]
        .into_iter()
        .map(|start| start.now(&folder))
        .collect()
}

fn real_servers(installed: &Installed, folder: &Path) -> anyhow::Result<Vec<Running>> {
    let llama = installed.python("llama")?;
    let litellm = installed.python("litellm")?;
    let launcher = installed.recipes().join("llama.py");
    let model = Start::new("LLAMA", "/health").patient(Duration::from_secs(120)).run(|port| {
        let mut command = Command::new(llama.join("bin/python"));
        command.arg(&launcher).arg(port.to_string());
        command
    });
    let model = model.now(&installed.logs())?;
    let configuration = configuration(folder, &model)?;
    let proxy = Start::new("LITELLM", "/health/liveliness").patient(Duration::from_secs(240));
    let proxy = proxy.run(|port| {
        let mut command = Command::new(litellm.join("bin/litellm"));
        command.arg("--config").arg(&configuration).args(["--host", "127.0.0.1"]);
        command.args(["--port", &port.to_string()]);
        command.envs([("LITELLM_TELEMETRY", "False"), ("LITELLM_LOCAL_MODEL_COST_MAP", "True")]);
        command
    });
    let proxy = proxy.with("SERVERS_LITELLM_KEY", PROXY_KEY).now(&installed.logs())?;
    Ok(vec![model, proxy])
}

/// The proxy serves the small model under the name that the checks ask for.
fn configuration(folder: &Path, model: &Running) -> anyhow::Result<PathBuf> {
    let text = format!(
        "model_list:\n  - model_name: small\n    litellm_params:\n      model: openai/small\n      \
         api_base: {}/v1\n      api_key: none\ngeneral_settings:\n  master_key: {PROXY_KEY}\n",
        model.address()
    );
    let file = folder.join("litellm.yaml");
    fs::write(&file, text).context("cannot write the configuration of the proxy")?;
    Ok(file)
}

/// The search path, for programs that look for others.
fn path_with(folder: &Path) -> anyhow::Result<std::ffi::OsString> {
    let path = env::var_os("PATH").unwrap_or_default();
    // An empty one would be the folder that the program is in.
    let own = Some(folder.to_path_buf()).filter(|folder| !folder.as_os_str().is_empty());
    let folders = own.into_iter().chain(env::split_paths(&path));
    env::join_paths(folders).context("the search path cannot be extended")
}
