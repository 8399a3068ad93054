//! The settings of the export.

use std::time::Duration;

use hyper::Uri;

use super::{ConfigError, Environment};
use crate::export::{Password, Target};

const URL: &str = "TMA1_GREPTIMEDB_URL";
const DATABASE: &str = "TMA1_GREPTIMEDB_DATABASE";
const USER: &str = "TMA1_GREPTIMEDB_USER";
const PASSWORD: &str = "TMA1_GREPTIMEDB_PASSWORD";
const TTL: &str = "TMA1_GREPTIMEDB_TTL";

const DEFAULT_DATABASE: &str = "tma1";
const DEFAULT_TTL: Duration = Duration::from_secs(60 * 86_400);

/// Where the history is to go; none without a URL.
pub(super) fn target(environment: &Environment) -> Result<Option<Target>, ConfigError> {
    let Some(url) = text(environment, URL)? else {
        return Ok(None);
    };
    if has_user(&url) {
        // The value may hold a password.
        let expected = "a URL without a user, who belongs into TMA1_GREPTIMEDB_USER and _PASSWORD";
        return Err(ConfigError { name: URL, value: "[REDACTED]".to_owned(), expected });
    }
    if !is_server(&url) {
        let expected = "a URL such as http://127.0.0.1:4000";
        return Err(ConfigError { name: URL, value: url, expected });
    }
    let database = text(environment, DATABASE)?.unwrap_or_else(|| DEFAULT_DATABASE.to_owned());
    if !is_name(&database) {
        let expected = "a name of letters, digits, `_` and `-`";
        return Err(ConfigError { name: DATABASE, value: database, expected });
    }
    let user = match (text(environment, USER)?, password(environment)?) {
        (None, None) => None,
        (Some(user), Some(password)) if !user.contains(':') => {
            Some((user, Password::new(password)))
        }
        (Some(user), Some(_)) => {
            let expected = "a name without a colon";
            return Err(ConfigError { name: USER, value: user, expected });
        }
        (Some(_), None) => return Err(absent(PASSWORD, "set, as TMA1_GREPTIMEDB_USER is")),
        (None, Some(_)) => return Err(absent(USER, "set, as TMA1_GREPTIMEDB_PASSWORD is")),
    };
    let url = url.trim_end_matches('/').to_owned();
    Ok(Some(Target { url, database, user, ttl: ttl(environment)? }))
}

const fn absent(name: &'static str, expected: &'static str) -> ConfigError {
    ConfigError { name, value: String::new(), expected }
}

fn text(environment: &Environment, name: &'static str) -> Result<Option<String>, ConfigError> {
    let Some(value) = environment.get(name) else {
        return Ok(None);
    };
    match value.to_str() {
        Some(text) => Ok(Some(text.trim().to_owned())),
        None => Err(ConfigError {
            name,
            value: value.to_string_lossy().into_owned(),
            expected: "valid text",
        }),
    }
}

/// The password as it is; what is wrong with it is not shown.
fn password(environment: &Environment) -> Result<Option<String>, ConfigError> {
    let Some(value) = environment.get(PASSWORD) else {
        return Ok(None);
    };
    let invalid =
        || ConfigError { name: PASSWORD, value: "[REDACTED]".to_owned(), expected: "valid text" };
    value.to_str().map(|text| Some(text.to_owned())).ok_or_else(invalid)
}

fn has_user(url: &str) -> bool {
    url.contains('@')
}

fn is_server(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        return false;
    };
    matches!(uri.scheme_str(), Some("http" | "https"))
        && uri.host().is_some_and(|host| !host.is_empty())
        && uri.query().is_none()
        && !url.contains('#')
}

fn is_name(name: &str) -> bool {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    !name.is_empty() && name.len() <= 128 && name.chars().all(is_part)
}

/// How long rows are kept: `60d`, `12h`, or `forever`.
fn ttl(environment: &Environment) -> Result<Option<Duration>, ConfigError> {
    let Some(value) = text(environment, TTL)? else {
        return Ok(Some(DEFAULT_TTL));
    };
    if value == "forever" {
        return Ok(None);
    }
    let read = [("d", 86_400), ("h", 3_600)].iter().find_map(|(unit, seconds)| {
        let number: u32 = value.strip_suffix(unit)?.trim_end().parse().ok()?;
        (number > 0).then(|| Duration::from_secs(u64::from(number) * seconds))
    });
    let expected = "a time such as `60d` or `12h`, or `forever`";
    read.map(Some).ok_or(ConfigError { name: TTL, value, expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Target>, ConfigError> {
        target(&variables.iter().copied().collect())
    }

    #[test]
    fn without_a_url_nothing_is_exported() {
        assert_eq!(read(&[(DATABASE, "x"), (PASSWORD, "p")]), Ok(None));
        assert_eq!(read(&[(URL, "")]), Ok(None));
    }

    #[test]
    fn the_rest_has_defaults() {
        let found = read(&[(URL, "http://127.0.0.1:4000/")]).unwrap().unwrap();
        let expected = Target {
            url: "http://127.0.0.1:4000".to_owned(),
            database: "tma1".to_owned(),
            user: None,
            ttl: Some(DEFAULT_TTL),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_url_names_a_server_and_nothing_else() {
        for good in ["http://h", "https://db.example:443/greptime", "http://[::1]:4000"] {
            assert!(read(&[(URL, good)]).is_ok(), "{good}");
        }
        for bad in ["127.0.0.1:4000", "ftp://h", "http://", "http://h/?db=x", "http://h/#x", "x y"]
        {
            let error = read(&[(URL, bad)]).unwrap_err();
            assert!(error.to_string().contains(bad), "{error}");
            assert!(error.hint().contains("http://127.0.0.1:4000"), "{error:?}");
        }
    }

    #[test]
    fn no_error_and_no_debug_text_has_the_password() {
        let url = read(&[(URL, "http://me:hunter2@h")]).unwrap_err();
        let alone = read(&[(URL, "http://h"), (PASSWORD, "hunter2")]).unwrap_err();
        let both = [(URL, "http://h"), (USER, "me"), (PASSWORD, "hunter2")];
        let target = read(&both).unwrap().unwrap();
        for said in [
            format!("{url} {url:?} {}", url.hint()),
            format!("{alone} {alone:?} {}", alone.hint()),
            format!("{target:?}"),
        ] {
            assert!(!said.contains("hunter2"), "{said}");
        }
        assert_eq!(target.user, Some(("me".to_owned(), Password::new("hunter2".to_owned()))));
    }

    #[test]
    fn a_time_to_live_has_a_unit() {
        let ttl = |value| read(&[(URL, "http://h"), (TTL, value)]).map(|it| it.unwrap().ttl);
        assert_eq!(ttl("7d"), Ok(Some(Duration::from_secs(7 * 86_400))));
        assert_eq!(ttl("12 h"), Ok(Some(Duration::from_secs(12 * 3_600))));
        assert_eq!(ttl("forever"), Ok(None));
        for bad in ["60", "0d", "d", "-1d", "1y", "99999999999d"] {
            assert!(ttl(bad).unwrap_err().hint().contains("`60d`"), "{bad}");
        }
    }

    #[test]
    fn a_database_has_a_name() {
        assert!(read(&[(URL, "http://h"), (DATABASE, "team-public")]).is_ok());
        for bad in ["a b", "a\"b", "ä"] {
            assert!(read(&[(URL, "http://h"), (DATABASE, bad)]).is_err(), "{bad}");
        }
    }
}
