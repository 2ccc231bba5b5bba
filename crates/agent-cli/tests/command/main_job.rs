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
    let calls = [
        "model   offline: the embedded rule-based model, no network \
         (for a language model: --model NAME or OPENAI_API_KEY)",
        "[1] list_files . recursive",
        "[1] ok 7 entries",
        "[2] read_file .gitignore",
        "[2] ok 2 lines, 18 bytes",
        "[3] read_file balcony.png",
        "[3] ok skipped: binary file, 165 bytes",
        "[4] read_file ideas.md",
        "[4] ok 7 lines, 212 bytes",
        "[5] read_file recipes/pancakes.md",
        "[5] ok 7 lines, 197 bytes",
        "[6] read_file recipes/soup.md",
        "[6] ok 8 lines, 118 bytes",
        "[7] read_file shopping.txt",
        "[7] ok 4 lines, 23 bytes",
        "[8] write_file TOTALS.md (197 bytes)",
        "[8] ok 197 bytes written",
    ];
    assert!(lines[0].starts_with("folder  /"), "{lines:?}");
    assert_eq!(lines[1..18], calls);
    assert!(lines[18].starts_with("receipt ") && lines[18].contains(": completed, 4 requests, "));
    assert!(lines[19].starts_with("totals  1 turn, 4 requests, "), "{lines:?}");
    assert!(lines[19].ends_with("; tokens unavailable; cost unavailable"), "{lines:?}");
    assert_eq!(lines.len(), 20, "the answer is not repeated: {lines:?}");
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
