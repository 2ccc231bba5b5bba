//! Decides whether the exit codes are the same everywhere that they are written down.

use clap::CommandFactory;

use super::{EXIT_CODES, exit_codes_help};
use crate::arguments::Arguments;

const README: &str = include_str!("../../../../README.md");

#[test]
fn the_readme_lists_exactly_these_codes() {
    let is_code = |cell: &str| !cell.is_empty() && cell.bytes().all(|at| at.is_ascii_digit());
    let rows = README.lines().filter_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let (code, meaning) = (cells.next()?, cells.next()?);
        is_code(code).then(|| (code.parse().unwrap(), meaning))
    });
    assert_eq!(rows.collect::<Vec<(u8, &str)>>(), EXIT_CODES);
}

#[test]
fn help_lists_them_for_the_command_and_for_a_run() {
    let mut command = Arguments::command();
    let (whole, codes) = (command.render_help().to_string(), exit_codes_help());
    assert!(whole.contains(&codes), "{whole}");
    let run = command.find_subcommand_mut("run").unwrap().render_help().to_string();
    assert!(run.contains(&codes), "{run}");
}

#[test]
fn no_code_means_two_things() {
    let mut codes = EXIT_CODES.map(|(code, _)| code).to_vec();
    codes.dedup();
    assert_eq!(codes.len(), EXIT_CODES.len());
    assert!(codes.is_sorted());
}
