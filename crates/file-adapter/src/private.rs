//! Decides how files of the user are opened: for the owner alone, and through no link.
//!
//! Knows modes and flags; refuses to know what the files hold.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::OFlags;

/// Makes a folder, and those above it, for the owner alone. One that is there is left as it is.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens a file for reading and appending, made for the owner alone if it is missing. A link in
/// its place is refused.
pub(crate) fn open_for_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(no_follow());
    options.open(path)
}

/// Opens a file for reading. A link in its place is refused.
pub(crate) fn open_for_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(no_follow()).open(path)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn no_follow() -> i32 {
    i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default()
}
