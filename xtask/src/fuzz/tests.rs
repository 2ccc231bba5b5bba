//! That no target outlives the command.

use std::{env, fs};

use super::*;

#[test]
fn when_one_target_cannot_run_the_others_are_stopped() {
    let named = env::temp_dir().join(format!("xtask-fuzz-{}", std::process::id()));
    let mut first = Command::new("sh");
    first.args(["-c", "echo $$ > \"$0\"; exec sleep 60"]).arg(&named);
    let until = Instant::now() + Duration::from_secs(20);
    let started = || loop {
        let number = fs::read_to_string(&named).unwrap_or_default();
        if number.ends_with('\n') || Instant::now() >= until {
            return number.trim().to_owned();
        }
        thread::sleep(Duration::from_millis(5));
    };
    let mut number = String::new();
    let missing = std::iter::once_with(|| {
        number = started();
        Command::new("/there/is/no/such/program")
    });
    let begun = Children::start([first].into_iter().chain(missing));
    assert!(begun.is_err());
    assert!(!number.is_empty(), "the first has begun");
    assert!(!Path::new("/proc").join(&number).exists(), "process {number} goes on");
    let _ = fs::remove_file(named);
}
