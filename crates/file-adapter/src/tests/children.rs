//! Decides what the processes do that other tests start and kill: this test binary once more, told
//! its role by its environment.
//!
//! A child says a line on its standard output for each thing that it did, after it was done.

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{ChildStdin, ChildStdout, Command, Stdio},
};

use runtime_ports::{ArtifactStore, PortFailure, ReceiptStore, UsageReceipt};
use rustix::{
    fs::Mode,
    process::{Resource, Rlimit, setrlimit, umask},
};

use super::sample::{id, meter, opened, operation, settled, store};
use crate::{FileArtifactStore, FileReceiptStore};

const ROLE: &str = "FILE_ADAPTER_TEST_ROLE";
const FOLDER: &str = "FILE_ADAPTER_TEST_FOLDER";
const FIRST_TURN: &str = "FILE_ADAPTER_TEST_FIRST_TURN";
const SAID: &str = "said: ";

/// Turns that [`Role::Appends`] opens and settles.
pub(crate) const APPENDED_TURNS: u64 = 250;
/// Turns that [`Role::Owns`] leaves open.
pub(crate) const OWNED_TURNS: u64 = 12;

/// What a child does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Opens turns, notes a request of each, starts a process that outlives it, and waits.
    Owns,
    /// Opens and settles turns, then ends.
    Appends,
    /// Opens, notes and settles turns until it is killed.
    Loops,
    /// Reads the open turns, waits for a line, and settles them in its own way.
    Recovers,
    /// Makes a store and an artifact with a umask that takes nothing away.
    Unmasked,
    /// Writes into a file that may not grow, then into one that may.
    Limited,
    /// Fills the disk that the folder is on.
    Fills,
}

const ROLES: [Role; 7] = [
    Role::Owns,
    Role::Appends,
    Role::Loops,
    Role::Recovers,
    Role::Unmasked,
    Role::Limited,
    Role::Fills,
];

/// A running child. Dropping it kills it.
pub(crate) struct Child {
    process: std::process::Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Child {
    pub(crate) fn start(role: Role, folder: &Path, first_turn: u64) -> Self {
        Self::start_through(&[], role, folder, first_turn)
    }

    /// Starts a child behind a command that takes the rest of its arguments as a command.
    pub(crate) fn start_through(
        wrapper: &[&str],
        role: Role,
        folder: &Path,
        first_turn: u64,
    ) -> Self {
        let exe = env::current_exe().expect("a test knows its binary");
        let mut words = wrapper.iter().map(|word| (*word).into()).chain([exe.into_os_string()]);
        let mut command = Command::new(words.next().expect("there is a command"));
        command.args(words).args(["--exact", "tests::children::child", "--nocapture"]);
        command.env(ROLE, format!("{role:?}")).env(FOLDER, folder);
        command.env(FIRST_TURN, first_turn.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("a process can be started");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let input = process.stdin.take();
        Self { process, input, output }
    }

    /// The next thing that it said; `None` when it ended.
    pub(crate) fn said(&mut self) -> Option<String> {
        let mut lines = self.output.by_ref().lines().map_while(Result::ok);
        lines.find_map(|line| Some(line.split_once(SAID)?.1.to_owned()))
    }

    /// All that it says until it ends.
    pub(crate) fn said_to_the_end(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.said()).collect()
    }

    pub(crate) fn tell(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is piped");
        writeln!(input, "{line}").expect("the child listens");
    }

    /// Ends it without a chance to clean up; what it had said can still be read.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("it is a child");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where a child begins; does nothing in a run of the tests.
#[test]
fn child() {
    let Ok(role) = env::var(ROLE) else { return };
    let role = ROLES.into_iter().find(|known| format!("{known:?}") == role).expect("a known role");
    let folder = env::var_os(FOLDER).expect("the parent says which folder");
    let first = env::var(FIRST_TURN).expect("the parent says it").parse().expect("a number");
    println!();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts").block_on(play(role, folder.as_ref(), first));
}

async fn play(role: Role, folder: &Path, first: u64) {
    match role {
        Role::Owns => own(folder, first).await,
        Role::Appends => append(folder, first).await,
        Role::Loops => work_until_killed(folder, first).await,
        Role::Recovers => recover(folder, first).await,
        Role::Unmasked => work_unmasked(folder).await,
        Role::Limited => work_limited(folder).await,
        Role::Fills => fill(folder).await,
    }
}

fn say(what: impl std::fmt::Display) {
    println!("{SAID}{what}");
}

fn wait_for_a_line() {
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
}

async fn own(folder: &Path, first: u64) {
    let store = store(folder);
    for turn in first..first + OWNED_TURNS {
        store.open(&operation(), opened(turn)).await.unwrap();
        store.note_request(&operation(), id(turn), 0, meter(turn)).await.unwrap();
    }
    // Something that the owner started and that outlives it must not keep its lock.
    let mut command = Command::new("sleep");
    command.arg("2").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let outlives_it = command.spawn().unwrap();
    say("ready");
    wait_for_a_line();
    drop(store);
    let _ = outlives_it.wait_with_output();
}

async fn append(folder: &Path, first: u64) {
    let store = store(folder);
    for turn in first..first + APPENDED_TURNS {
        store.open(&operation(), opened(turn)).await.unwrap();
        store.settle(&operation(), settled(turn)).await.unwrap();
    }
    say("done");
}

/// Receipts of several pages, so that a kill can hit the middle of a write.
pub(crate) fn large(turn: u64) -> UsageReceipt {
    UsageReceipt { losses: vec!["lost ".repeat(3_000)], ..settled(turn) }
}

async fn work_until_killed(folder: &Path, first: u64) {
    let store = store(folder);
    for turn in first.. {
        store.open(&operation(), opened(turn)).await.unwrap();
        say(format_args!("opened {turn}"));
        store.note_request(&operation(), id(turn), 0, meter(turn)).await.unwrap();
        say(format_args!("noted {turn}"));
        if turn % 3 != 0 {
            store.settle(&operation(), large(turn)).await.unwrap();
            say(format_args!("settled {turn}"));
        }
    }
}

async fn recover(folder: &Path, who: u64) {
    let store = store(folder);
    let open = store.unsettled(&operation()).await.unwrap();
    say(format_args!("found {}", open.len()));
    wait_for_a_line();
    for receipt in open {
        let turn = receipt.operation_id;
        let settled = UsageReceipt { losses: vec![format!("settled by {who}")], ..receipt };
        match store.settle(&operation(), settled).await {
            Ok(()) => say(format_args!("settled {turn}")),
            Err(failure) => say(format_args!("{} {turn}", failure.code)),
        }
    }
}

async fn work_unmasked(folder: &Path) {
    umask(Mode::empty());
    let store = store(&folder.join("state/receipts"));
    store.open(&operation(), opened(1)).await.unwrap();
    let artifacts = FileArtifactStore::new(folder.join("state/artifacts"));
    artifacts.put(&operation(), b"bytes").await.unwrap();
    say("ready");
    wait_for_a_line();
}

fn verdict(result: &Result<(), PortFailure>) -> String {
    match result {
        Ok(()) => "ok".into(),
        Err(failure) => format!("{} {:?} {}", failure.code, failure.commit, failure.retryable),
    }
}

/// The parent has this process ignore the signal that a limit sends.
async fn work_limited(folder: &Path) {
    let store = store(folder);
    let limit = |current| setrlimit(Resource::Fsize, Rlimit { current, maximum: None }).unwrap();
    let settle = async |turn| verdict(&store.settle(&operation(), large(turn)).await);
    for turn in [1, 2] {
        store.open(&operation(), opened(turn)).await.unwrap();
    }
    limit(Some(10_000));
    say(settle(1).await);
    say(settle(1).await);
    say(verdict(&store.settle(&operation(), settled(2)).await));
    limit(None);
    say(settle(1).await);
}

/// Opens turns while it can, fills what is left, and settles what it opened.
async fn fill(folder: &Path) {
    say("mounted");
    let store = store(&folder.join("receipts"));
    let mut turns = 0;
    let refusal = loop {
        match store.open(&operation(), opened(turns + 1)).await {
            Ok(()) => turns += 1,
            refused => break refused,
        }
    };
    say(verdict(&refusal));
    let mut rest = fs::File::create(folder.join("rest")).unwrap();
    while rest.write_all(&[0; 512]).is_ok() {}
    let mut all = Ok(());
    for turn in 1..=turns {
        all = all.and(store.settle(&operation(), settled(turn)).await);
    }
    say(verdict(&all));
    drop(store);
    let store = FileReceiptStore::open(folder.join("receipts")).unwrap();
    let settled = store.list(&operation(), None, usize::MAX).await.unwrap().len();
    say(format_args!("{turns} opened, {settled} settled, {} damaged", store.damage().len()));
}
