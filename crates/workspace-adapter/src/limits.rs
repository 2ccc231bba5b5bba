//! Decides how much one call on a folder may read, list or keep.
//!
//! Knows nothing about what a model is shown; tools cut further.

/// How much one call may take. The defaults suit a model's context and a small machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderLimits {
    /// Most bytes of a file that is read or searched. Default: 8 MiB.
    pub file_bytes: u64,
    /// Most bytes that a write may put into a file. Default: 8 MiB.
    pub write_bytes: usize,
    /// Most entries of one folder, ignored ones included. Default: 20,000.
    pub folder_entries: usize,
    /// Most bytes kept of each output stream of a command, head and tail together. Default:
    /// 64 KiB.
    pub output_bytes: usize,
    /// Most bytes of a line that `search` reports. Default: 500.
    pub line_bytes: usize,
}

impl Default for FolderLimits {
    fn default() -> Self {
        Self {
            file_bytes: 8 << 20,
            write_bytes: 8 << 20,
            folder_entries: 20_000,
            output_bytes: 64 << 10,
            line_bytes: 500,
        }
    }
}
