//! What a disk that takes nothing more means for what is to be sent.

use std::{
    io::{self, Write},
    sync::Arc,
};

use serde_json::json;

use serde::{Serialize, Serializer, ser::Error as _};

use super::{Fate, Recorder, Writer};
use crate::tape::TapeError;

/// Takes so many lines.
struct Disk(usize);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.0.checked_sub(1).ok_or(io::ErrorKind::StorageFull)?;
        self.0 = room;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

async fn begin(recorder: &Recorder) -> Result<(), String> {
    let begun = recorder.begin("http://h", "GET", "models").await;
    match begun {
        Ok(recording) => {
            recording.written().await;
            Ok(())
        }
        Err(failure) => {
            assert!(failure.code == "TAPE_FAILED" && !failure.retryable);
            Err(failure.message)
        }
    }
}

#[tokio::test]
async fn a_full_disk_ends_the_run_before_its_next_request() {
    let full = "the tape t.jsonl cannot be written: no storage space; nothing more is sent that \
                would not be recorded";
    let recorder = Recorder::over("t.jsonl".into(), Box::new(Disk(2))).expect("a tape");
    assert_eq!(begin(&recorder).await, Ok(()));
    assert_eq!(recorder.settled().await, Ok(()));
    // This one cannot be written; it is told before the next one is sent.
    assert_eq!(begin(&recorder).await, Ok(()));
    assert_eq!(begin(&recorder).await, Err(full.to_owned()));
    assert!(recorder.settled().await.is_err());
    assert!(recorder.note("n", json!(1)).await.is_err());
    let error = Recorder::over("t.jsonl".into(), Box::new(Disk(0))).expect_err("no room at all");
    assert!(matches!(error, TapeError::Unwritable { .. }));
}

/// A line that has no form.
struct Formless;

impl Serialize for Formless {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("canary"))
    }
}

#[test]
fn a_line_that_cannot_be_written_as_json_ends_the_run_as_well() {
    let fate = Arc::new(Fate::default());
    let file = Box::new(Disk(9));
    let mut writer = Writer { path: "t.jsonl".into(), file, fate: Arc::clone(&fate) };
    writer.line(&json!(1));
    assert_eq!(fate.get(), None);
    writer.line(&Formless);
    let error = fate.get().expect("nothing more is sent");
    assert!(matches!(&error, TapeError::Unwritable { .. }), "{error}");
    assert!(!error.to_string().contains("canary"), "{error}");
}
