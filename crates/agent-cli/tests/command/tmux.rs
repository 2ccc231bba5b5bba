//! Decides how a test sits at a real terminal: `tmux`, which draws what it is sent and reads keys.
//!
//! Knows the screen as a person sees it, row by row. A server of its own for each terminal, whose
//! socket lives in the place of the test. Without `tmux` a test fails: `.ci/run` installs it.

use std::{
    path::PathBuf,
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    output::LIMIT,
    place::{Agent, Place},
};

static STARTED: AtomicUsize = AtomicUsize::new(0);

/// A terminal.
pub(crate) struct Tmux {
    socket: PathBuf,
    ended: PathBuf,
}

impl Tmux {
    /// Runs the command at a terminal of so many columns and rows.
    pub(crate) fn running(place: &Place, agent: Agent, columns: u16, rows: u16) -> Self {
        let terminal = Self::beginning(place);
        let ended = quoted(&terminal.ended.to_string_lossy());
        let line = format!("{}; echo $? > {ended}", command_line(agent));
        let line = line + "; stty -a | grep -o 'icanon\\|-icanon'; exec sleep 600";
        terminal.open(place, columns, rows, &["sh", "-c", &line]);
        terminal
    }

    /// Starts the command in a shell that has jobs; its prompt is `sh>`.
    pub(crate) fn in_a_shell(place: &Place, agent: Agent) -> Self {
        let terminal = Self::beginning(place);
        place.put("begin", &format!("exec {}\n", command_line(agent)));
        terminal.open(place, 80, 24, &["env", "PS1=sh> ", "ENV=", "sh", "-i"]);
        terminal.until_last("sh>");
        terminal.send("sh begin");
        terminal
    }

    fn beginning(place: &Place) -> Self {
        // A server that was told to end may take a while.
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let [socket, ended] = ["tmux", "ended"].map(|name| place.path(&format!("{name}-{number}")));
        Self { socket, ended }
    }

    fn open(&self, place: &Place, columns: u16, rows: u16, program: &[&str]) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let folder = place.folder();
        let size = ["new-session", "-d", "-x", &columns, "-y", &rows, "-c"];
        self.tmux(&[&size[..], &[folder.to_str().unwrap()], program].concat());
    }

    /// What the terminal shows, without what has scrolled away; no spaces at the ends of rows.
    pub(crate) fn screen(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p"]).stdout;
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let rows: Vec<&str> = shown.lines().map(str::trim_end).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Everything, what has scrolled away included.
    pub(crate) fn scrolled(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p", "-S", "-", "-J"]).stdout;
        String::from_utf8_lossy(&shown).into_owned()
    }

    /// The screen with the sequences that set colours.
    pub(crate) fn coloured(&self) -> String {
        let shown = self.tmux(&["capture-pane", "-p", "-e"]).stdout;
        String::from_utf8_lossy(&shown).into_owned()
    }

    /// Waits until the screen shows `part`.
    pub(crate) fn until(&self, part: &str) {
        self.until_it(|screen| screen.contains(part), part);
    }

    /// Waits until the screen ends with `part`.
    pub(crate) fn until_last(&self, part: &str) {
        self.until_it(|screen| screen.ends_with(part), part);
    }

    fn until_it(&self, is_there: impl Fn(&str) -> bool, what: &str) {
        let until = Instant::now() + LIMIT;
        while !is_there(&self.screen()) {
            assert!(Instant::now() < until, "waited in vain for {what:?}:\n{}", self.screen());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Types a text as it is.
    pub(crate) fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", "--", text]);
    }

    /// Presses keys by the names that `tmux` has for them.
    pub(crate) fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys", "--"], keys].concat());
    }

    /// Types a text and sends it.
    pub(crate) fn send(&self, text: &str) {
        self.type_text(text);
        self.press(&["Enter"]);
    }

    /// Pastes a text, as terminals do that say what is pasted.
    pub(crate) fn paste(&self, text: &str) {
        self.tmux(&["set-buffer", "--", text]);
        self.tmux(&["paste-buffer", "-p", "-r"]);
    }

    /// Sends the command a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let shell = self.tmux(&["display-message", "-p", "#{pane_pid}"]).stdout;
        let shell = String::from_utf8_lossy(&shell).trim().to_owned();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
        let child: i32 = children.unwrap().trim().parse().unwrap();
        kill_process(Pid::from_raw(child).unwrap(), signal).unwrap();
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.tmux(&["resize-window", "-x", &columns, "-y", &rows]);
    }

    /// Waits for the end of the command, and gives its exit code.
    pub(crate) fn exit_code(&self) -> i32 {
        let until = Instant::now() + LIMIT;
        loop {
            let code = std::fs::read_to_string(&self.ended).unwrap_or_default();
            if let Ok(code) = code.trim().parse() {
                self.until("icanon");
                let screen = self.screen();
                assert!(!screen.contains("-icanon"), "the terminal is left raw:\n{screen}");
                return code;
            }
            assert!(Instant::now() < until, "the command did not end:\n{}", self.screen());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("tmux");
        // Whatever the locale of the test is.
        command.env_remove("TMUX").arg("-u").arg("-f").arg("/dev/null").arg("-S").arg(&self.socket);
        let output = command.args(arguments).output();
        let output = output.expect("tmux is needed here; .ci/run installs it");
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {arguments:?}: {problem}");
        output
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let mut command = Command::new("tmux");
        let _ = command.arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

/// The command with nothing around it but its own environment.
fn command_line(agent: Agent) -> String {
    let command = agent.into_command();
    let mut line = String::from("env -i TERM=$TERM ");
    let environment = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    for (name, value) in environment.filter(|(name, _)| *name != "TERM") {
        line += &format!("{}={} ", name.to_string_lossy(), quoted(&value.to_string_lossy()));
    }
    for word in std::iter::once(command.get_program()).chain(command.get_args()) {
        line += &format!("{} ", quoted(&word.to_string_lossy()));
    }
    line
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
