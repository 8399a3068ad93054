//! The log of a daemon that runs in the background: two files, each of a bounded size.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::paths::older_log;
use crate::platform;
use crate::setup::purge;

/// The largest size of each of the two files, in bytes.
const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// Appends to a file, which makes room for a new one when it is full.
///
/// Whoever reads it may do with it as with any file: what is removed or renamed is made anew.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    max_bytes: u64,
    open: Option<File>,
}

impl LogFile {
    /// The log at `path`, whose folder is made if it is not there.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            platform::create_private_dir(folder)?;
            platform::make_private_dir(folder)?;
            purge::mark(folder)?;
        }
        let open = platform::append_to_private_file(&path)?;
        Ok(Self { path, max_bytes: MAX_BYTES, open: Some(open) })
    }

    /// The open file, for a process that is to write into it.
    pub fn into_file(self) -> Option<File> {
        self.open
    }

    /// The file with room for `more` bytes.
    fn with_room(&mut self, more: usize) -> io::Result<&mut File> {
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        let current = match self.open.take() {
            Some(file) if platform::is_same_file(&file, &self.path) => file,
            _ => platform::append_to_private_file(&self.path)?,
        };
        let size = current.metadata()?.len();
        let file = if size > 0 && size.saturating_add(more) > self.max_bytes {
            // Before the rename, as an open file has its name for good on Windows.
            drop(current);
            fs_err::rename(&self.path, older_log(&self.path))?;
            platform::append_to_private_file(&self.path)?
        } else {
            current
        };
        Ok(self.open.insert(file))
    }
}

/// One call is one message.
impl Write for LogFile {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        // Whole or cut, it is one message, and no file is larger than what it may be.
        let limit = usize::try_from(self.max_bytes).unwrap_or(usize::MAX);
        let kept = text.get(..limit).unwrap_or(text);
        self.with_room(kept.len())?.write_all(kept)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(max_bytes: u64) -> (tempfile::TempDir, LogFile) {
        let folder = tempfile::tempdir().unwrap();
        let log = LogFile::open(folder.path().join("logs/daemon.log")).unwrap();
        (folder, LogFile { max_bytes, ..log })
    }

    fn text(path: &std::path::Path) -> String {
        fs_err::read_to_string(path).unwrap_or_default()
    }

    #[test]
    fn two_files_of_a_bounded_size_hold_what_was_said_last() {
        let (_folder, mut log) = log(100);
        for number in 0..1_000 {
            writeln!(log, "message {number:03}").unwrap();
        }
        let (newer, older) = (text(&log.path), text(&older_log(&log.path)));
        assert!(newer.len() <= 100 && older.len() <= 100, "{older}{newer}");
        let both = older + &newer;
        let numbers = both.lines().map(|line| line.strip_prefix("message ").unwrap());
        let numbers: Vec<usize> = numbers.map(|number| number.parse().unwrap()).collect();
        let expected: Vec<_> = (1_000 - numbers.len()..1_000).collect();
        assert!(numbers.len() > 8);
        assert_eq!(numbers, expected);
        let files = fs_err::read_dir(log.path.parent().unwrap()).unwrap().count();
        assert_eq!(files, 3, "the two and the marker");
    }

    #[test]
    fn a_message_that_is_too_large_is_cut() {
        let (_folder, mut log) = log(100);
        log.write_all(&[b'x'; 1_000]).unwrap();
        log.write_all(b"next").unwrap();
        assert_eq!(text(&older_log(&log.path)), "x".repeat(100));
        assert_eq!(text(&log.path), "next");
    }

    #[cfg(unix)]
    #[test]
    fn a_log_that_is_moved_away_is_made_anew() {
        use std::os::unix::fs::PermissionsExt;

        let (_folder, mut log) = log(100);
        log.write_all(b"before").unwrap();
        fs_err::remove_dir_all(log.path.parent().unwrap()).unwrap();
        assert!(log.write_all(b"lost").is_err());
        fs_err::create_dir(log.path.parent().unwrap()).unwrap();
        log.write_all(b"after").unwrap();
        assert_eq!(text(&log.path), "after");
        let mode = fs_err::metadata(&log.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_there_instead_of_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("daemon.log")).unwrap();
        assert!(LogFile::open(folder.path().join("daemon.log")).is_err());
    }
}
