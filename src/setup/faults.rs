//! Every system call of the writer, made to fail; other programs, made to write at the worst moment.
#![cfg(unix)]

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::setup::apply::{ApplyError, apply};
use crate::setup::cases::{Home, INSTALL};
use crate::setup::disk::{Disk, OperatingSystem};
use crate::setup::target::{Reason, Snapshot, Target};
use crate::setup::{InstallError, Task};

const SETTINGS: &str = "{\n  \"model\": \"opus\"\n}\n";

/// The operating system, with something happening at each call.
struct Faulty<F> {
    calls: RefCell<usize>,
    at_call: F,
}

impl<F: Fn(usize, &str) -> io::Result<()>> Faulty<F> {
    fn new(at_call: F) -> Self {
        Self { calls: RefCell::new(0), at_call }
    }

    fn call<T>(&self, name: &str, real: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let number = self.calls.replace_with(|number| *number + 1);
        (self.at_call)(number, name)?;
        real()
    }
}

impl<F: Fn(usize, &str) -> io::Result<()>> Disk for Faulty<F> {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.call("create_folder", || OperatingSystem.create_folder(path))
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.call("remove_folder", || OperatingSystem.remove_folder(path))
    }
    fn create_file(&self, path: &Path) -> io::Result<File> {
        self.call("create_file", || OperatingSystem.create_file(path))
    }
    fn set_attributes(&self, file: &File, mode: u32, target: &Target) -> io::Result<()> {
        self.call("set_attributes", || OperatingSystem.set_attributes(file, mode, target))
    }
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        // A disk that fills up takes half of it.
        let half = &bytes[..bytes.len() / 2];
        self.call("write", || Ok(())).or_else(|error| file.write_all(half).and(Err(error)))?;
        OperatingSystem.write(file, bytes)
    }
    fn sync_file(&self, file: &File) -> io::Result<()> {
        self.call("sync_file", || OperatingSystem.sync_file(file))
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.call("sync_folder", || OperatingSystem.sync_folder(path))
    }
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call("rename_new", || OperatingSystem.rename_new(from, to))
    }
    fn exchange(&self, one: &Path, other: &Path) -> io::Result<()> {
        self.call("exchange", || OperatingSystem.exchange(one, other))
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.call("remove_file", || OperatingSystem.remove_file(path))
    }
    fn snapshot(&self, path: &Path) -> Result<Option<Snapshot>, Reason> {
        self.call("snapshot", || Ok(())).map_err(Reason::Unreadable)?;
        OperatingSystem.snapshot(path)
    }
}

fn settings_of(home: &Home) -> String {
    fs_err::read_to_string(home.path(".claude/settings.json")).unwrap()
}

fn temporary_files(home: &Home) -> Vec<String> {
    home.tree().into_iter().filter(|path| path.contains("/.tma1-")).collect()
}

/// How many calls an installation makes when nothing fails.
fn calls_of_an_installation() -> usize {
    let disk = Faulty::new(|_, _| Ok(()));
    let home = Home::with_settings(SETTINGS);
    INSTALL.carry_out(&home.artifacts(), &home.paths, &disk).unwrap();
    disk.calls.into_inner()
}

#[test]
fn a_call_that_fails_leaves_each_file_as_it_was_or_as_it_should_be() {
    let calls = calls_of_an_installation();
    assert!(calls > 15, "{calls}");
    for failing in 0..calls {
        let home = Home::with_settings(SETTINGS);
        let before = home.tree();
        let disk = Faulty::new(|number, name| {
            let fault = || io::Error::other(format!("injected into {name}"));
            if number == failing { Err(fault()) } else { Ok(()) }
        });
        let result = INSTALL.carry_out(&home.artifacts(), &home.paths, &disk);
        match &result {
            // Only what is done after everything is in place may fail unseen.
            Ok(_) => assert_ne!(settings_of(&home), SETTINGS, "call {failing}"),
            Err(error) => {
                assert_eq!(settings_of(&home), SETTINGS, "call {failing}: {error}");
                assert!(!matches!(error, InstallError::Apply(ApplyError::HalfDone { .. })));
                let left: Vec<_> = home
                    .tree()
                    .into_iter()
                    .filter(|path| !path.contains("/.tma1-") && !before.contains(path))
                    .collect();
                assert_eq!(left, [""; 0], "call {failing}: {error}");
            }
        }
        INSTALL.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
        assert_eq!(temporary_files(&home), [""; 0], "call {failing}: {result:?}");
        assert!(home.plan().is_empty(), "call {failing}");
    }
}

#[test]
fn a_call_that_fails_in_an_uninstall_leaves_it_undone_or_done() {
    let installed = || {
        let home = Home::with_settings(SETTINGS);
        INSTALL.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
        home
    };
    let counting = Faulty::new(|_, _| Ok(()));
    let home = installed();
    Task::Uninstall.carry_out(&home.artifacts(), &home.paths, &counting).unwrap();
    for failing in 0..counting.calls.into_inner() {
        let home = installed();
        let disk = Faulty::new(|number, name| {
            let fault = || io::Error::other(format!("injected into {name}"));
            if number == failing { Err(fault()) } else { Ok(()) }
        });
        let before = settings_of(&home);
        let result = Task::Uninstall.carry_out(&home.artifacts(), &home.paths, &disk);
        let settings = settings_of(&home);
        assert!(settings == before || settings == SETTINGS, "call {failing}: {result:?}");
        Task::Uninstall.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
        assert_eq!(settings_of(&home), SETTINGS, "call {failing}");
        assert_eq!(home.tree(), ["~/.claude", "~/.claude/settings.json"], "call {failing}");
    }
}

#[test]
fn a_disk_that_fails_from_some_call_on_leaves_every_file_whole() {
    for first_failing in 0..calls_of_an_installation() {
        let home = Home::with_settings(SETTINGS);
        let disk = Faulty::new(|number, _| {
            if number < first_failing { Ok(()) } else { Err(io::Error::other("injected")) }
        });
        let result = INSTALL.carry_out(&home.artifacts(), &home.paths, &disk);
        let settings = settings_of(&home);
        if settings != SETTINGS {
            assert!(settings.contains("\"model\": \"opus\"") && settings.ends_with("}\n"));
            serde_json::from_str::<serde_json::Value>(&settings).unwrap();
        }
        drop(result);
        INSTALL.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
        assert_eq!(temporary_files(&home), [""; 0], "call {first_failing}");
        assert!(settings_of(&home).contains("\"model\": \"opus\""), "call {first_failing}");
    }
}

/// What another program writes, in one of the ways in which programs do.
fn write_as_others(path: &Path, text: &str, in_place: bool) -> io::Result<()> {
    if in_place {
        return fs_err::write(path, text);
    }
    let beside = path.with_extension("theirs");
    fs_err::write(&beside, text)?;
    fs_err::rename(beside, path)
}

#[test]
fn what_another_program_writes_at_any_moment_is_kept_and_so_is_ours() {
    for moment in 0..calls_of_an_installation() {
        for in_place in [false, true] {
            let home = Home::with_settings(SETTINGS);
            let path = home.path(".claude/settings.json");
            let disk = Faulty::new(|number, _| {
                if number != moment {
                    return Ok(());
                }
                // It changes what it finds at this moment.
                let text = fs_err::read_to_string(&path)?;
                write_as_others(&path, &text.replace("opus", "haiku"), in_place)
            });
            INSTALL.carry_out(&home.artifacts(), &home.paths, &disk).unwrap();
            let settings = settings_of(&home);
            assert!(settings.contains("haiku"), "call {moment}, {in_place}: {settings}");
            assert!(settings.contains("tma1-hook.sh"), "call {moment}, {in_place}: {settings}");
            assert!(home.plan().is_empty());
            assert_eq!(temporary_files(&home), [""; 0]);
        }
    }
}

#[test]
fn what_is_written_through_a_handle_that_was_open_before_is_kept() {
    let home = Home::with_settings(SETTINGS);
    let path = home.path(".claude/settings.json");
    let mut handle = Some(fs_err::OpenOptions::new().write(true).open(&path).unwrap());
    let handle = RefCell::new(&mut handle);
    let exchanged = RefCell::new(false);
    let disk = Faulty::new(|_, name| {
        if *exchanged.borrow()
            && let Some(mut handle) = handle.borrow_mut().take()
        {
            handle.write_all(SETTINGS.replace("opus", "lynx").as_bytes())?;
        }
        if name == "exchange" {
            *exchanged.borrow_mut() = true;
        }
        Ok(())
    });
    INSTALL.carry_out(&home.artifacts(), &home.paths, &disk).unwrap();
    let settings = settings_of(&home);
    assert!(settings.contains("lynx") && settings.contains("tma1-hook.sh"), "{settings}");
}

#[test]
fn a_file_that_is_being_rewritten_is_not_taken_for_an_empty_one() {
    for torn in ["", "{\n  \"mod"] {
        let home = Home::with_settings(torn);
        let path: PathBuf = home.path(".claude/settings.json");
        let writer = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(60));
            fs_err::write(path, SETTINGS).unwrap();
        });
        INSTALL.carry_out(&home.artifacts(), &home.paths, &OperatingSystem).unwrap();
        writer.join().unwrap();
        let settings = settings_of(&home);
        assert!(settings.contains("opus") && settings.contains("tma1-hook.sh"), "{settings}");
    }
}

#[test]
fn a_plan_that_is_outdated_is_not_applied() {
    let home = Home::with_settings(SETTINGS);
    let plan = home.plan();
    home.write(".claude/settings.json", "{}");
    assert!(matches!(
        apply(&plan, &|_| None, &OperatingSystem),
        Err(ApplyError::ChangedMeanwhile(_))
    ));
    assert_eq!(settings_of(&home), "{}");
}
