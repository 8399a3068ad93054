//! Reads the transcripts that events name, as they grow.

mod file;
mod folders;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::agent::transcript::{Owner, Requests};
use crate::agent::{Agent, SessionKey};
use crate::paths::Paths;
use crate::world::{Observation, Usage};
use file::SessionFile;
pub use folders::Folders;

/// How many sessions are followed. One that comes back after others took its place is read again.
const MAX_SESSIONS: usize = 128;

/// How many sessions that began earlier are read before a later one, if need be.
const MAX_EARLIER: usize = 64;

/// How many files of one session are read, its subagents' among them.
const MAX_FILES: usize = 512;

/// How many files of one session are remembered that events name before they are there.
const MAX_AWAITED: usize = 16;

/// How many names in the folder of a session's subagents are looked at.
const MAX_NAMES: usize = 4096;

/// Follows the transcripts of sessions.
///
/// Each call reads on from where the one before stopped and takes as long as its budget lets it: it is
/// meant for a thread that answers nobody.
#[derive(Debug)]
pub struct Transcripts {
    folders: Folders,
    requests: Requests,
    sessions: HashMap<SessionKey, Session>,
    /// Sessions of Claude Code that were not read yet, with their transcripts, in the order in which
    /// they began.
    earlier: VecDeque<(SessionKey, String)>,
    /// How many calls there were: what tells the older from the newer.
    calls: u64,
    owners: u32,
}

/// What reading on has told.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What is new: commands that have ended, then what was used in all, if that has changed.
    pub observations: Vec<Observation>,
    /// Whether the budget was used up before everything was read. Then another call goes on, and until
    /// it is done the observed usage is that of the part that was read, without a window.
    pub more: bool,
}

#[derive(Debug)]
struct Session {
    owner: Owner,
    files: BTreeMap<PathBuf, SessionFile>,
    called_at: u64,
    reported: Usage,
}

impl Transcripts {
    /// For the agents of the user whose folders are `paths`.
    pub fn new(paths: &Paths) -> Self {
        Self {
            folders: Folders::new(paths),
            requests: Requests::default(),
            sessions: HashMap::new(),
            earlier: VecDeque::new(),
            calls: 0,
            owners: 0,
        }
    }

    /// Makes known that `session` began after those of which this was said before. It is read before a
    /// later one of its folder: of two sessions that hold the same requests, the later is the copy, and
    /// in its file nothing tells them apart.
    pub fn began(&mut self, session: &SessionKey, transcript: &str) {
        let is_known = self.earlier.iter().any(|(known, _)| known == session);
        if session.agent == Agent::ClaudeCode && !is_known {
            if self.earlier.len() >= MAX_EARLIER {
                self.earlier.pop_front();
            }
            self.earlier.push_back((session.clone(), transcript.to_owned()));
        }
    }

    /// Reads on in the files of `session`: the one at the path `transcript`, which an event of it
    /// names, those that events named before, and those of its subagents.
    ///
    /// At most `budget` bytes are read, or one line if that is longer. A file that is not there, or is
    /// not to be read, is no error: at the start of a session it is the rule.
    pub fn read_on(&mut self, session: &SessionKey, transcript: &str, budget: usize) -> Reading {
        let earlier = self.to_read_before(session, transcript);
        let (read, file) =
            earlier.as_ref().map_or((session, transcript), |(session, file)| (session, file));
        let reading = self.read(read, file, budget);
        if !reading.more {
            self.earlier.retain(|(known, _)| known != read);
        }
        Reading { more: reading.more || earlier.is_some(), ..reading }
    }

    /// The first session that is to be read before this one, which was not read yet.
    fn to_read_before(
        &self,
        session: &SessionKey,
        transcript: &str,
    ) -> Option<(SessionKey, String)> {
        let folder = Path::new(transcript).parent();
        let mut before = self.earlier.iter().take_while(|(known, _)| known != session);
        let is_in_folder = |known: &SessionKey, file| {
            known.agent == session.agent && Path::new(file).parent() == folder
        };
        let is_begun = self.sessions.contains_key(session);
        before.find(|(known, file)| !is_begun && is_in_folder(known, file.as_str())).cloned()
    }

    fn read(&mut self, session: &SessionKey, transcript: &str, budget: usize) -> Reading {
        let path = Path::new(transcript);
        self.calls += 1;
        if !self.sessions.contains_key(session) {
            // Whoever may post events must not make us forget the sessions that there are.
            if self.folders.open(session.agent, path).is_none() {
                return Reading::default();
            }
            self.make_room();
            self.owners = self.owners.wrapping_add(1);
        }
        let owner = Owner(self.owners);
        let state = self.sessions.entry(session.clone()).or_insert_with(|| Session::new(owner));
        state.called_at = self.calls;
        state.name(session, path, self.calls);
        if session.agent == Agent::ClaudeCode {
            state.find_subagents(session, path);
        }
        let more = state.read_on(session.agent, &self.folders, &mut self.requests, budget);
        Reading { observations: state.observe(session), more }
    }

    fn make_room(&mut self) {
        if self.sessions.len() < MAX_SESSIONS {
            return;
        }
        let oldest = self.sessions.iter().min_by_key(|(_, session)| session.called_at);
        let oldest = oldest.map(|(key, session)| (key.clone(), session.owner));
        if let Some((key, owner)) = oldest {
            self.sessions.remove(&key);
            self.requests.forget(owner);
        }
    }
}

impl Session {
    fn new(owner: Owner) -> Self {
        Self { owner, files: BTreeMap::new(), called_at: 0, reported: Usage::default() }
    }

    /// An event has named the file at `path`.
    fn name(&mut self, key: &SessionKey, path: &Path, call: u64) {
        if let Some(file) = self.files.get_mut(path) {
            file.named_at = Some(call);
            return;
        }
        let awaited = || self.files.iter().filter(|(_, file)| file.is_awaited());
        if awaited().count() >= MAX_AWAITED {
            let oldest = awaited().min_by_key(|(_, file)| file.named_at);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                self.files.remove(&oldest);
            }
        }
        if self.files.len() < MAX_FILES {
            let file = SessionFile::new(key, self.owner, Some(call));
            self.files.insert(path.to_owned(), file);
        }
    }

    /// Claude Code keeps the subagents' files in a folder beside the session's own.
    fn find_subagents(&mut self, key: &SessionKey, path: &Path) {
        let Ok(names) = fs_err::read_dir(path.with_extension("").join("subagents")) else { return };
        let mut found: Vec<_> = names
            .take(MAX_NAMES)
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_of_subagent(path) && !self.files.contains_key(path))
            .collect();
        found.sort();
        found.truncate(MAX_FILES.saturating_sub(self.files.len()));
        for path in found {
            self.files.insert(path, SessionFile::new(key, self.owner, None));
        }
    }

    /// Reads on in each file; returns whether there is more.
    fn read_on(
        &mut self,
        agent: Agent,
        folders: &Folders,
        requests: &mut Requests,
        mut budget: usize,
    ) -> bool {
        for (path, file) in &mut self.files {
            if budget == 0
                || file.read_on(path, |path| folders.open(agent, path), requests, &mut budget)
            {
                return true;
            }
        }
        false
    }

    fn observe(&mut self, key: &SessionKey) -> Vec<Observation> {
        let ended = self.files.values_mut().flat_map(|file| file.transcript.take_ended());
        let mut observations: Vec<_> = ended
            .map(|end| Observation::CommandEnded {
                session: key.clone(),
                call_id: end.call_id,
                exit_code: end.exit_code,
            })
            .collect();
        let usage = self.usage();
        if usage != self.reported {
            self.reported = usage;
            observations.push(Observation::Usage { session: key.clone(), usage });
        }
        observations
    }

    fn usage(&self) -> Usage {
        let (mut input, mut output) = (0_u64, 0_u64);
        for file in self.files.values() {
            let tokens = file.transcript.tokens();
            input = input.saturating_add(tokens.input);
            output = output.saturating_add(tokens.output);
        }
        let own = self
            .files
            .values()
            .filter(|file| file.is_of_session())
            .max_by_key(|file| file.named_at);
        // In the middle of a file the last request is an old one.
        let window = own.filter(|file| !file.is_behind()).and_then(|file| file.transcript.window());
        Usage {
            input,
            output,
            window_used: window.map(|window| window.used),
            window_size: window.and_then(|window| window.size),
        }
    }
}

fn is_of_subagent(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("agent-") && path.extension().is_some_and(|extension| extension == "jsonl")
}
