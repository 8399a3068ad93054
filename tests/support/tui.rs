//! A program that takes over its terminal, driven by keys.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tma1::clock;

use super::process::signal;

/// The longest that the program may take to show or do what is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program in a terminal of its own, which `script` provides; it ends when this is dropped.
#[derive(Debug)]
pub struct Tui {
    child: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Tui {
    /// Starts `command`, whose environment and directory are kept.
    pub fn start(command: &Command) -> Self {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(|word| word.to_str().unwrap()).collect();
        let mut script = Command::new("script");
        let line = shlex::try_join(words).unwrap();
        script.args(["-q", "-e", "-f", "-c", &line, "/dev/null"]).env_clear();
        script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(directory) = command.get_current_dir() {
            script.current_dir(directory);
        }
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = script.spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let keys = child.stdin.take().unwrap();
        let shown = Arc::new(Mutex::new(Vec::new()));
        let screen = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut chunk) {
                screen.lock().unwrap().extend_from_slice(&chunk[..read]);
            }
        });
        Self { child, keys, shown }
    }

    /// Types a line, and enter a moment later: what comes at once is taken for pasted.
    pub fn enter(&mut self, line: &str) {
        self.keys.write_all(line.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        self.keys.write_all(b"\r").unwrap();
    }

    /// Presses keys that are no line.
    pub fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
    }

    /// Waits until `condition` holds.
    #[track_caller]
    pub fn wait_until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let deadline = clock::monotonic() + PATIENCE;
        while !condition() {
            assert!(clock::monotonic() < deadline, "{what} did not happen: {}", self.text());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Everything that was shown so far, without terminal sequences and blanks: programs jump over
    /// these.
    pub fn text(&self) -> String {
        let shown = self.shown.lock().unwrap();
        let text = String::from_utf8_lossy(&shown).into_owned();
        console::strip_ansi_codes(&text).split_whitespace().collect()
    }
}

impl Drop for Tui {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            signal("TERM", self.child.id());
        }
        drop(self.child.wait());
    }
}
