//! Every setting, resolved once from the environment and passed down.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::num::{NonZeroU16, NonZeroU64};
use std::str::FromStr;
use std::time::Duration;

use crate::export::Target;
use crate::store::Retention;

mod greptimedb;

/// The port that the daemon listens on and the hook scripts talk to, unless told otherwise.
pub const DEFAULT_PORT: u16 = 14318;

/// Which messages the daemon logs, unless told otherwise.
const DEFAULT_LOG: &str = "info";

/// A snapshot of the process environment; nothing else in the crate reads it.
///
/// An empty value counts as unset, as both agents treat `CLAUDE_CONFIG_DIR` and `CODEX_HOME`.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The environment of this process.
    #[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
    pub fn capture() -> Self {
        std::env::vars_os().collect()
    }

    /// The value of `name`, if it is set and not empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Every variable, for a process that is to have the same environment.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Whether the switch `name` is on: set to anything but `0`, `false`, `no` or `off`.
    pub fn is_on(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| {
            let value = value.to_string_lossy().trim().to_ascii_lowercase();
            !matches!(value.as_str(), "" | "0" | "false" | "no" | "off")
        })
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// The settings of this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `TMA1_PORT`: where the daemon listens on 127.0.0.1, and the port written into hook scripts.
    pub port: u16,
    /// Off with `TMA1_DISABLE_INJECTION=1`: events are recorded, every answer is empty.
    pub injection: bool,
    /// `TMA1_CONTEXT_PRESSURE_THRESHOLD`: from how many tokens in its window on a session is told that
    /// the window fills up; without it, from 70 % of the window on.
    pub context_pressure_threshold: Option<u64>,
    /// On with `TMA1_ENABLE_FILE_CALLBACK=1`: the block is also written to `.tma1-context.md` in the
    /// project, for agents without hooks.
    pub file_callback: bool,
    /// Off with `TMA1_REDACT=off`: what looks like a secret is kept as it is.
    pub redaction: bool,
    /// `TMA1_GREPTIMEDB_…`: where the history is exported to; nowhere unless the URL is set.
    pub export: Option<Target>,
    /// `TMA1_DATA_TTL` and `TMA1_DATA_MAX`: how long and how much the event log keeps; 60 days and
    /// 2 GiB unless they are set.
    pub retention: Retention,
    /// `TMA1_LOG`: which messages the daemon logs, in the syntax of `RUST_LOG`.
    pub log: String,
    /// `PAGER`: what shows long output on a terminal, with its arguments.
    pub pager: Option<String>,
}

/// A setting whose value can't be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{name} is {value:?}, which is not {expected}")]
pub struct ConfigError {
    name: &'static str,
    value: String,
    expected: &'static str,
}

impl ConfigError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        format!("set {} to {}, or unset it", self.name, self.expected)
    }
}

impl Config {
    /// Reads every `TMA1_…` setting of the environment.
    pub fn from_environment(environment: &Environment) -> Result<Self, ConfigError> {
        let port =
            number(environment, "TMA1_PORT", "a port number from 1 to 65535")?.map(NonZeroU16::get);
        let threshold = "TMA1_CONTEXT_PRESSURE_THRESHOLD";
        let threshold = number(environment, threshold, "a number of tokens, such as 150000")?;
        let default = Retention::default();
        let retention = Retention {
            age: measured(environment, "TMA1_DATA_TTL", AGE, &AGE_UNITS)?
                .map_or(default.age, Duration::from_secs),
            bytes: measured(environment, "TMA1_DATA_MAX", SIZE, &SIZE_UNITS)?
                .unwrap_or(default.bytes),
        };
        let log = environment
            .get("TMA1_LOG")
            .map_or_else(|| DEFAULT_LOG.to_owned(), |value| value.to_string_lossy().into_owned());
        Ok(Self {
            port: port.unwrap_or(DEFAULT_PORT),
            injection: !environment.is_on("TMA1_DISABLE_INJECTION"),
            context_pressure_threshold: threshold.map(NonZeroU64::get),
            file_callback: environment.is_on("TMA1_ENABLE_FILE_CALLBACK"),
            redaction: environment.get("TMA1_REDACT").is_none() || environment.is_on("TMA1_REDACT"),
            export: greptimedb::target(environment)?,
            retention,
            log,
            pager: environment.get("PAGER").map(|value| value.to_string_lossy().into_owned()),
        })
    }
}

/// The number that the variable `name` is set to.
fn number<T: FromStr>(
    environment: &Environment,
    name: &'static str,
    expected: &'static str,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = environment.get(name) else {
        return Ok(None);
    };
    match value.to_str().and_then(|value| value.trim().parse().ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(ConfigError { name, value: value.to_string_lossy().into_owned(), expected }),
    }
}

const AGE: &str = "a time such as `60d` or `12h`";
const AGE_UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
const SIZE: &str = "a size such as `2GiB` or `500MiB`";
const SIZE_UNITS: [(&str, u64); 6] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

/// The whole number with a unit that the variable `name` is set to, in the unit of 1; not zero.
fn measured(
    environment: &Environment,
    name: &'static str,
    expected: &'static str,
    units: &[(&str, u64)],
) -> Result<Option<u64>, ConfigError> {
    let Some(value) = environment.get(name) else {
        return Ok(None);
    };
    let value = value.to_string_lossy();
    let read = units.iter().find_map(|(unit, factor)| {
        let number = value.trim().strip_suffix(unit)?.trim_end().parse::<NonZeroU64>().ok()?;
        number.get().checked_mul(*factor)
    });
    match read {
        Some(number) => Ok(Some(number)),
        None => Err(ConfigError { name, value: value.into_owned(), expected }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_environment(&variables.iter().copied().collect())
    }

    #[test]
    fn without_variables_the_defaults_hold() {
        let defaults = Config {
            port: 14318,
            injection: true,
            context_pressure_threshold: None,
            file_callback: false,
            redaction: true,
            export: None,
            retention: Retention::default(),
            log: "info".to_owned(),
            pager: None,
        };
        assert_eq!(config(&[]), Ok(defaults));
        assert_eq!(config(&[("TMA1_PORT", "")]).map(|c| c.port), Ok(14318));
    }

    #[test]
    fn a_port_must_be_one() {
        assert_eq!(config(&[("TMA1_PORT", "4000")]).map(|c| c.port), Ok(4000));
        for bad in ["0", "65536", "-1", "http"] {
            let error = config(&[("TMA1_PORT", bad)]).unwrap_err();
            assert!(error.to_string().contains(bad), "{error}");
            assert!(error.hint().contains("1 to 65535"));
        }
    }

    #[test]
    fn a_threshold_is_a_number_of_tokens() {
        let name = "TMA1_CONTEXT_PRESSURE_THRESHOLD";
        let threshold = |value| config(&[(name, value)]).map(|c| c.context_pressure_threshold);
        assert_eq!(threshold(" 150000 "), Ok(Some(150_000)));
        assert_eq!(threshold(""), Ok(None));
        for bad in ["0", "-1", "70%", "150k", "1e5"] {
            let error = threshold(bad).unwrap_err();
            let text =
                format!("{name} is {bad:?}, which is not a number of tokens, such as 150000");
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn what_is_kept_has_a_unit() {
        let kept = |name, value| config(&[(name, value)]).map(|config| config.retention);
        let age = |value| kept("TMA1_DATA_TTL", value).map(|kept| kept.age.as_secs());
        assert_eq!(age("7d"), Ok(7 * 86_400));
        assert_eq!(age(" 12 h "), Ok(12 * 3_600));
        let bytes = |value| kept("TMA1_DATA_MAX", value).map(|kept| kept.bytes);
        assert_eq!(bytes("500MiB"), Ok(500 << 20));
        assert_eq!(bytes("1GB"), Ok(1_000_000_000));
        for bad in ["0d", "60", "d", "-1d", "1y", "99999999999999999999d", "999999999999999999d"] {
            let error = age(bad).unwrap_err();
            assert!(error.hint().contains("`60d`"), "{bad}: {error}");
        }
    }

    #[test]
    fn injection_is_disabled_by_a_true_value_only() {
        for (value, injection) in [("1", false), ("true", false), ("0", true), ("off", true)] {
            let config = config(&[("TMA1_DISABLE_INJECTION", value)]).unwrap();
            assert_eq!(config.injection, injection, "{value}");
        }
    }

    #[test]
    fn secrets_stay_only_where_that_is_said() {
        for (value, redaction) in
            [("off", false), ("0", false), ("", true), ("on", true), ("of", true)]
        {
            assert_eq!(config(&[("TMA1_REDACT", value)]).unwrap().redaction, redaction, "{value}");
        }
    }
}
