//! Which binary the hook scripts run.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::config::Environment;

/// The name of a copy of the program.
pub(super) const PROGRAM: &str = "tma1";

/// How this program was started.
#[derive(Debug, Clone)]
pub struct Started {
    /// Its name as the shell passed it on.
    pub argument: OsString,
    /// Where it was started.
    pub working_dir: PathBuf,
    /// The file that is running.
    pub executable: PathBuf,
}

/// What the hook scripts run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binary {
    /// The program where it is.
    InPlace(PathBuf),
    /// A copy, because the program lies where it won't stay.
    Copy {
        /// The program.
        from: PathBuf,
        /// Where it is kept.
        to: PathBuf,
    },
}

impl Binary {
    /// The path that goes into the scripts.
    pub fn path(&self) -> &Path {
        match self {
            Self::InPlace(path) | Self::Copy { to: path, .. } => path,
        }
    }
}

impl Started {
    /// The binary to run: where the program was started, which a package manager keeps valid over
    /// upgrades and a resolved link would not be; or its copy in `bin`.
    pub fn binary(
        &self,
        environment: &Environment,
        home: &Path,
        bin: &Path,
    ) -> Result<Binary, ProgramGone> {
        let path = self
            .named_paths(environment)
            .into_iter()
            .chain([self.executable.clone()])
            .find(|path| self.is_program(path))
            .ok_or_else(|| ProgramGone(self.executable.clone()))?;
        if in_build_folder(&path) || in_temporary_folder(&path, environment, home) {
            Ok(Binary::Copy { from: path, to: bin.join(PROGRAM) })
        } else {
            Ok(Binary::InPlace(path))
        }
    }

    /// Where the name by which the program was started may lead.
    fn named_paths(&self, environment: &Environment) -> Vec<PathBuf> {
        if has_separator(&self.argument) {
            return vec![normal(&self.working_dir.join(&self.argument))];
        }
        let Some(search_path) = environment.get("PATH") else { return Vec::new() };
        std::env::split_paths(search_path)
            .map(|folder| normal(&self.working_dir.join(folder).join(&self.argument)))
            .collect()
    }

    /// Whether `path` leads to this program: to the file that is running, or if that was replaced, to
    /// the file that has its name now. A path through an open handle leads nowhere later.
    fn is_program(&self, path: &Path) -> bool {
        let through_handle = ["/proc", "/dev"].iter().any(|root| path.starts_with(root));
        let running = fs_err::canonicalize(&self.executable);
        !through_handle
            && fs_err::canonicalize(path).is_ok_and(|path| match &running {
                Ok(running) => path == *running,
                Err(_) => path.is_file() && path.file_name() == self.executable_name(),
            })
    }

    /// The name of the running file, which Linux marks once it is deleted.
    fn executable_name(&self) -> Option<&OsStr> {
        let name = self.executable.file_name()?;
        Some(
            name.to_str().and_then(|name| name.strip_suffix(" (deleted)")).map_or(name, OsStr::new),
        )
    }
}

/// The file that is running has been removed, so no script can run it.
#[derive(Debug, thiserror::Error)]
#[error("the program {} is no longer there", .0.display())]
pub struct ProgramGone(PathBuf);

impl ProgramGone {
    /// What to do about it.
    pub fn hint(&self) -> String {
        "start tma1 again from where it is now".to_owned()
    }
}

fn has_separator(argument: &OsStr) -> bool {
    argument.to_string_lossy().contains(std::path::is_separator)
}

/// `path` without `.` and `..`. The folders are followed only if there is a `..`, which after a link
/// does not undo the part before.
fn normal(path: &Path) -> PathBuf {
    if path.components().any(|part| part == Component::ParentDir)
        && let (Some(folder), Some(name)) = (path.parent(), path.file_name())
        && let Ok(folder) = fs_err::canonicalize(folder)
    {
        return folder.join(name);
    }
    path.components().collect()
}

/// Whether a folder above `path` is marked as a cache, as Cargo marks its target folder.
fn in_build_folder(path: &Path) -> bool {
    const SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";
    path.ancestors().skip(1).any(|folder| {
        let mut start = Vec::new();
        fs_err::File::open(folder.join("CACHEDIR.TAG"))
            .and_then(|tag| tag.take(SIGNATURE.len() as u64).read_to_end(&mut start))
            .is_ok_and(|_| start == SIGNATURE)
    })
}

/// Whether `path` lies in a folder that is emptied from time to time. A home directory in such a
/// folder, as tests have it, is kept as long as what is installed there.
fn in_temporary_folder(path: &Path, environment: &Environment, home: &Path) -> bool {
    let temporary = environment.get("TMPDIR").map(PathBuf::from);
    temporary.into_iter().chain(["/tmp", "/var/tmp"].map(PathBuf::from)).any(|folder| {
        let real = fs_err::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        [folder, real].iter().any(|folder| {
            let home_is_inside = home.starts_with(folder);
            path.starts_with(folder) && !(home_is_inside && path.starts_with(home))
        })
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::setup::cases::Home;

    /// Where the program is said to be when it was started as `argument`.
    fn started(home: &Home, argument: &str, path: &str) -> Binary {
        let environment = Environment::from_iter([("PATH", path), ("TMPDIR", "/elsewhere")]);
        let started = Started {
            argument: argument.into(),
            working_dir: home.path("work"),
            executable: home.path("store/1.2.3/tma1"),
        };
        started.binary(&environment, home.folder.path(), &home.paths.bin()).unwrap()
    }

    #[test]
    fn the_path_by_which_the_program_was_started_is_kept() {
        let home = Home::new();
        home.write("store/1.2.3/tma1", "program");
        home.write("store/other/tma1", "another");
        home.write("work/x", "");
        fs_err::create_dir(home.path("bin")).unwrap();
        symlink("../store/1.2.3/tma1", home.path("bin/tma1")).unwrap();
        let in_place = |name: &str| Binary::InPlace(home.path(name));
        let search_path = |folders: &[&str]| {
            let folders: Vec<_> = folders.iter().map(|folder| home.path(folder)).collect();
            std::env::join_paths(folders).unwrap().into_string().unwrap()
        };
        let absolute = home.path("bin/tma1").to_str().unwrap().to_owned();
        assert_eq!(started(&home, &absolute, ""), in_place("bin/tma1"));
        assert_eq!(started(&home, "./../bin/tma1", ""), in_place("bin/tma1"));
        let path = search_path(&["none", "store/other", "bin"]);
        assert_eq!(started(&home, "tma1", &path), in_place("bin/tma1"));
        // A name that leads elsewhere, or nowhere.
        let path = search_path(&["store/other"]);
        assert_eq!(started(&home, "tma1", &path), in_place("store/1.2.3/tma1"));
        assert_eq!(started(&home, "", &path), in_place("store/1.2.3/tma1"));
    }

    #[test]
    fn a_program_that_was_replaced_is_the_one_that_has_its_name_now() {
        let home = Home::new();
        let bin = home.path("bin");
        fs_err::create_dir_all(&bin).unwrap();
        let started = Started {
            argument: "tma1".into(),
            working_dir: home.path(""),
            executable: bin.join("tma1 (deleted)"),
        };
        let environment = Environment::from_iter([("PATH", &bin)]);
        let binary = || started.binary(&environment, home.folder.path(), &home.paths.bin());
        assert!(binary().unwrap_err().to_string().ends_with("tma1 (deleted) is no longer there"));
        home.write("bin/tma1", "a newer one");
        assert_eq!(binary().unwrap(), Binary::InPlace(bin.join("tma1")));
    }

    #[test]
    fn a_path_through_a_handle_is_not_kept() {
        let home = Home::new();
        home.write("store/1.2.3/tma1", "program");
        let handle = fs_err::File::open(home.path("store/1.2.3/tma1")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(handle.file());
        let binary = started(&home, &format!("/dev/fd/{number}"), "");
        assert_eq!(binary, Binary::InPlace(home.path("store/1.2.3/tma1")));
    }

    #[test]
    fn a_program_that_will_not_stay_is_copied() {
        let home = Home::new();
        home.write("store/1.2.3/tma1", "program");
        let copy =
            Binary::Copy { from: home.path("store/1.2.3/tma1"), to: home.paths.bin().join("tma1") };
        home.write("store/CACHEDIR.TAG", "Signature: of something else");
        assert_ne!(started(&home, "", ""), copy);
        home.write("store/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# Cargo");
        assert_eq!(started(&home, "", ""), copy);
        // Temporary folders, one of them in the home directory.
        fs_err::remove_file(home.path("store/CACHEDIR.TAG")).unwrap();
        let executable = home.path("store/1.2.3/tma1");
        let started = Started { argument: "tma1".into(), working_dir: home.path(""), executable };
        let environment = Environment::from_iter([("TMPDIR", home.path("store"))]);
        let bin = home.paths.bin();
        assert_eq!(started.binary(&environment, home.folder.path(), &bin).unwrap(), copy);
        let environment = Environment::from_iter([("TMPDIR", home.folder.path())]);
        let elsewhere = Path::new("/home/dev");
        assert_eq!(started.binary(&environment, elsewhere, &bin).unwrap(), copy);
        let binary = started.binary(&environment, home.folder.path(), &bin).unwrap();
        assert_eq!(binary, Binary::InPlace(home.path("store/1.2.3/tma1")));
    }
}
