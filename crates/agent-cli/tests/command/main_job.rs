//! Decides whether the task of the README is done offline, and told honestly.

use crate::place::Place;

const TASK: &str = "Count the lines of every file in this folder and write the totals to TOTALS.md";

const TOTALS: &str = "\
| File | Lines |
|---|---:|
| .gitignore | 2 |
| ideas.md | 7 |
| recipes/pancakes.md | 7 |
| recipes/soup.md | 8 |
| shopping.txt | 4 |
| **Total** | **28** |

Skipped:
- balcony.png: binary file
";

#[test]
fn the_job_is_done_and_the_answer_stands_alone_on_standard_output() {
    let place = Place::notes();
    let ended = place.run(&["--yes", TASK]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(place.file("TOTALS.md").as_deref(), Some(TOTALS));
    let answer = format!(
        "{TOTALS}\nWrote {} bytes to TOTALS.md.\n\n(offline model: rule-based, no network)\n",
        TOTALS.len()
    );
    assert_eq!(ended.stdout, answer);
}

#[test]
fn each_call_its_result_the_receipt_and_the_totals_are_progress() {
    let place = Place::notes();
    let ended = place.run(&["--yes", TASK]);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    assert!(lines[0].starts_with("folder  /"), "{lines:?}");
    let receipts = lines.iter().filter(|line| line.starts_with("receipt "));
    let receipts: Vec<_> = receipts.collect();
    assert_eq!(receipts.len(), 4, "one for each request: {lines:?}");
    for receipt in receipts {
        assert!(receipt.contains(": completed, 1 request, "), "{receipt}");
    }
    let results = |line: &&str| ["2", "3", "4", "5", "6", "7"].contains(&&line[1..2]);
    let (reads, others): (Vec<&str>, Vec<&str>) =
        lines[1..].iter().filter(|line| !line.starts_with("receipt ")).copied().partition(results);
    let told = [
        "model   offline: the embedded rule-based model, no network",
        "        (for a language model: --model NAME or OPENAI_API_KEY)",
        "cycle 1 of 250",
        "[1] list_files . recursive",
        "[1] ok 7 entries",
        "cycle 2 of 250",
        "cycle 3 of 250",
        "[8] write_file TOTALS.md (197 bytes)",
        "[8] ok 197 bytes written",
        "cycle 4 of 250",
    ];
    assert_eq!(others[..10], told);
    assert!(others[10].starts_with("totals  4 requests, "), "{others:?}");
    assert!(others[10].ends_with("; tokens unavailable; cost unavailable"), "{others:?}");
    assert_eq!(others.len(), 11, "the answer is not repeated: {others:?}");
    check_reads(&reads);
}

/// Six files are read at once: first all calls, then results as they come, each naming its call
/// unless it follows it.
fn check_reads(lines: &[&str]) {
    let reads = [
        (2, ".gitignore", "2 lines, 18 bytes"),
        (3, "balcony.png", "skipped: binary file, 165 bytes"),
        (4, "ideas.md", "7 lines, 212 bytes"),
        (5, "recipes/pancakes.md", "7 lines, 197 bytes"),
        (6, "recipes/soup.md", "8 lines, 118 bytes"),
        (7, "shopping.txt", "4 lines, 23 bytes"),
    ];
    assert_eq!(lines.len(), 12, "{lines:?}");
    for (position, (number, path, found)) in reads.into_iter().enumerate() {
        assert_eq!(lines[position], format!("[{number}] read_file {path}"));
        let whole = format!("[{number}] ok read_file {path}: {found}");
        let short = format!("[{number}] ok {found}");
        assert!(lines[6..].iter().any(|line| *line == whole || *line == short), "{lines:?}");
    }
}

#[test]
fn every_output_says_offline() {
    let place = Place::notes();
    let plain = place.run(&["list the files"]);
    let events = place.run(&["--json", "list the files"]);
    let receipts = place.agent(&["receipts"]).ended();
    let lines = place.agent(&["receipts", "--json"]).ended();
    for output in [plain.stdout, plain.stderr, events.stdout, receipts.stdout, lines.stdout] {
        assert!(output.contains("offline"), "{output}");
    }
}

#[test]
fn the_folder_is_the_current_one_or_the_one_that_is_named() {
    let place = Place::notes();
    place.put("deep/below.txt", "x\n");
    let current = place.run(&["list the files"]);
    assert!(current.stdout.contains("- ideas.md"), "{current:?}");
    let named = place.run(&["--folder", "deep", "list the files"]);
    assert!(named.stdout.starts_with("1 item in the folder:\n- below.txt (2 bytes)"), "{named:?}");
}
