//! Which binary the hook scripts run.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::config::Environment;

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
    pub fn binary(&self, environment: &Environment, home: &Path, bin: &Path) -> Binary {
        let path = self.path(environment).unwrap_or_else(|| self.executable.clone());
        if in_build_folder(&path) || in_temporary_folder(&path, environment, home) {
            Binary::Copy { from: path, to: bin.join("tma1") }
        } else {
            Binary::InPlace(path)
        }
    }

    /// The path by which the program was started, if it does lead to it.
    fn path(&self, environment: &Environment) -> Option<PathBuf> {
        let running = fs_err::canonicalize(&self.executable).ok()?;
        let leads_here =
            |path: &PathBuf| fs_err::canonicalize(path).is_ok_and(|path| path == running);
        if has_separator(&self.argument) {
            return Some(normal(&self.working_dir.join(&self.argument))).filter(leads_here);
        }
        let search_path = environment.get("PATH")?;
        std::env::split_paths(search_path)
            .map(|folder| normal(&self.working_dir.join(folder).join(&self.argument)))
            .find(leads_here)
    }
}

fn has_separator(argument: &OsStr) -> bool {
    argument.to_string_lossy().contains(std::path::is_separator)
}

/// `path` without `.` parts. A `..` stays, because after a link it does not undo the part before.
fn normal(path: &Path) -> PathBuf {
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

#[cfg(all(test, unix))]
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
        started.binary(&environment, home.folder.path(), &home.paths.bin())
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
        assert_eq!(started(&home, "./../bin/tma1", ""), in_place("work/../bin/tma1"));
        let path = search_path(&["none", "store/other", "bin"]);
        assert_eq!(started(&home, "tma1", &path), in_place("bin/tma1"));
        // A name that leads elsewhere, or nowhere.
        let path = search_path(&["store/other"]);
        assert_eq!(started(&home, "tma1", &path), in_place("store/1.2.3/tma1"));
        assert_eq!(started(&home, "", &path), in_place("store/1.2.3/tma1"));
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
        assert_eq!(started.binary(&environment, home.folder.path(), &bin), copy);
        let environment = Environment::from_iter([("TMPDIR", home.folder.path())]);
        let elsewhere = Path::new("/home/dev");
        assert_eq!(started.binary(&environment, elsewhere, &bin), copy);
        let binary = started.binary(&environment, home.folder.path(), &bin);
        assert_eq!(binary, Binary::InPlace(home.path("store/1.2.3/tma1")));
    }
}
