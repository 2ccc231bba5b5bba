//! Decides what is kept of an examination, in a file of the user's.
//!
//! Knows files. Refuses to know how things were found. Invariants: the file is made before anything is
//! sent, so that nothing is paid for in vain; one that was not written is removed.

use std::{
    fs::{self, File, OpenOptions},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};

use super::patient::Patient;
use crate::{endpoint::Api, safe_text::safe_line};

/// A file that will hold what was found.
pub(super) struct Kept {
    path: PathBuf,
    file: File,
    is_written: bool,
}

impl Kept {
    /// A new file.
    ///
    /// # Errors
    /// There is one already, or none can be made there.
    pub(super) fn new(path: &Path) -> anyhow::Result<Self> {
        let file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(anyhow!(
                    "{} exists already; name another file, or remove it",
                    path.display()
                ));
            }
            Err(error) => return Err(error).with_context(|| unwritable(path)),
        };
        Ok(Self { path: path.to_path_buf(), file, is_written: false })
    }

    /// Writes what fits the API, and says what that is.
    ///
    /// # Errors
    /// The file takes no more.
    pub(super) fn write(mut self, patient: &mut Patient) -> anyhow::Result<String> {
        let (text, said) = match patient.has_profile() {
            true => {
                patient.profile.name = format!("measured: {}", safe_line(&patient.model, 60));
                let said = "holds the profile; name it as profile in the configuration file";
                (patient.profile.to_toml(), said.to_owned())
            }
            false => (section(patient), has_no_profile(patient.api)),
        };
        let written = self.file.write_all(text.as_bytes());
        written.with_context(|| unwritable(&self.path))?;
        self.is_written = true;
        Ok(format!("{} {said}", self.path.display()))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.is_written {
            // It is empty; whoever removed it already did what this wants.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn unwritable(path: &Path) -> String {
    format!("{} cannot be written; name a file in a folder that can be", path.display())
}

fn has_no_profile(api: Api) -> String {
    format!(
        "holds a section for the configuration file: the api {} has no profile, its adapter learns \
         by itself",
        api.word()
    )
}

/// The server as the configuration file names one; the findings as comments.
fn section(patient: &Patient) -> String {
    let address = patient.endpoint.base_url.split('?').next().unwrap_or_default();
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let mut text = format!(
        "# The server of the model {}, as it was examined. Put this into the configuration file,\n\
         # with api_key_env = \"NAME\" if it wants a key.\n\
         [[providers]]\nname = \"examined\"\napi = \"{}\"\nbase_url = {}\n",
        safe_line(&patient.model, 60),
        patient.api.word(),
        quoted(&safe_line(address, 2_000)),
    );
    for finding in &patient.findings {
        let (name, verdict) = (finding.probe.name, finding.verdict.text());
        text.push_str(&format!("# {name}: {verdict}: {}\n", safe_line(&finding.came, 300)));
    }
    text
}
