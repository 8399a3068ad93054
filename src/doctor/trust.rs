//! Whether Codex runs our hooks: each one only if its user has trusted it as it is now, where it is now.
//!
//! `docs/agents.md` has the rule. Codex itself could be asked, but takes a second to start.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::doctor::finding::{Check, Finding, Fix};
use crate::doctor::settings::{self, Handler};
use crate::doctor::subject::Subject;
use crate::setup::edit::toml::trust::snake_case;
use crate::setup::receipt::sha256;

/// How long Codex waits for a hook that says nothing of it, in seconds.
const DEFAULT_TIMEOUT: u64 = 600;

/// How much of a context Codex takes from a hook that says nothing of it. It counts as said nothing.
const DEFAULT_CONTEXT_LIMIT: u64 = 2500;

/// What Codex makes of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    Trusted,
    /// Switched off by its user.
    Disabled,
    /// Trusted as something else, or where it was before.
    Modified,
    Untrusted,
}

/// Looks whether Codex runs our hooks `own`.
pub(super) fn check(subject: &Subject<'_>, own: &[Handler]) -> Finding {
    let check = Check::of("trust", Agent::Codex);
    let path = subject.paths.codex_home.join("config.toml");
    let config = settings::toml(&path);
    if config.is_none() && path.exists() {
        return check.skipped(format!("{} has to be readable", subject.display(&path)));
    }
    let config = config.unwrap_or_default();
    let states = config.get("hooks").and_then(|hooks| hooks.get("state"));
    let file = hooks_file(subject).display().to_string();
    judge(&own.iter().map(|own| trust(own, &file, states)).collect::<Vec<_>>())
}

/// The path by which Codex knows the file with the hooks: its home with links followed, if a variable
/// names it.
fn hooks_file(subject: &Subject<'_>) -> PathBuf {
    let home = &subject.paths.codex_home;
    let real = subject.environment.get("CODEX_HOME").and_then(|_| fs_err::canonicalize(home).ok());
    real.unwrap_or_else(|| home.clone()).join("hooks.json")
}

fn trust(own: &Handler, file: &str, states: Option<&Value>) -> Trust {
    let event = snake_case(&own.event);
    let event = format!("{file}:{event}:");
    let state = states.and_then(|it| it.get(format!("{event}{}:{}", own.group, own.index)));
    let Some(state) = state else {
        let states = states.and_then(Value::as_object).into_iter().flatten();
        let was_here = |(key, state): (&String, &Value)| {
            key.starts_with(&event) && state.get("trusted_hash") == Some(&json!(hash(own)))
        };
        return if states.into_iter().any(was_here) { Trust::Modified } else { Trust::Untrusted };
    };
    let trusted = state.get("trusted_hash").and_then(Value::as_str);
    match trusted {
        _ if state.get("enabled") == Some(&Value::Bool(false)) => Trust::Disabled,
        None => Trust::Untrusted,
        Some(trusted) if trusted == hash(own) => Trust::Trusted,
        Some(_) => Trust::Modified,
    }
}

/// The hash by which Codex knows what a hook is.
fn hash(own: &Handler) -> String {
    let member = |name: &str| own.members.get(name).filter(|value| !value.is_null());
    let number = |name: &str| member(name).and_then(Value::as_u64);
    let mut handler = Map::new();
    handler.insert("type".to_owned(), json!("command"));
    handler.insert("command".to_owned(), json!(own.command()));
    handler.insert("timeout".to_owned(), json!(number("timeout").unwrap_or(DEFAULT_TIMEOUT)));
    handler.insert("async".to_owned(), json!(member("async") == Some(&Value::Bool(true))));
    if let Some(message) = member("statusMessage") {
        handler.insert("statusMessage".to_owned(), message.clone());
    }
    if let Some(limit) = number("additionalContextLimit").filter(|n| *n != DEFAULT_CONTEXT_LIMIT) {
        handler.insert("additionalContextLimit".to_owned(), json!(limit));
    }
    let mut hook = BTreeMap::from([("event_name", json!(snake_case(&own.event)))]);
    hook.insert("hooks", json!([handler]));
    // These two have nothing to match.
    if let Some(matcher) = &own.matcher
        && !matches!(own.event.as_str(), "UserPromptSubmit" | "Stop")
    {
        hook.insert("matcher", json!(matcher));
    }
    // A map of this crate gives its keys in the order of the alphabet, as Codex does.
    format!("sha256:{}", sha256(json!(hook).to_string().as_bytes()))
}

fn judge(found: &[Trust]) -> Finding {
    let check = Check::of("trust", Agent::Codex);
    let count = |trust: Trust| found.iter().filter(|other| **other == trust).count();
    let of = |trust| format!("{} of {}", count(trust), found.len());
    let review = Fix::Tma1("install --adapter codex --skip-project-files --trust-codex-hooks");
    let meaning = "Codex leaves out a hook that you have not trusted, and does not say so";
    match found.iter().max() {
        None => check.skipped("there is no hook to trust"),
        Some(Trust::Trusted) => check.ok(format!("Codex trusts all {} hooks of tma1", found.len())),
        Some(Trust::Disabled) => check.failure(
            format!("{} hooks of tma1 are switched off in Codex", of(Trust::Disabled)),
            "Codex leaves them out",
            Fix::ByHand(
                "remove `enabled = false` from their `[hooks.state…]` in config.toml, or switch \
                 them on in Codex with /hooks"
                    .to_owned(),
            ),
        ),
        Some(Trust::Modified) => check.failure(
            format!(
                "{} hooks of tma1 are not what you trusted at their place in Codex: they were \
                 changed, or moved by a hook before them",
                of(Trust::Modified)
            ),
            meaning,
            review,
        ),
        Some(Trust::Untrusted) => check.failure(
            format!("{} hooks of tma1 were never trusted in Codex", of(Trust::Untrusted)),
            meaning,
            review,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Status;

    fn own(more: &[(&str, Value)]) -> Handler {
        let mut members = Map::new();
        members.insert("command".to_owned(), json!("true"));
        members.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let event = "UserPromptSubmit".to_owned();
        Handler { event, group: 1, index: 0, matcher: None, members }
    }

    #[test]
    fn the_state_at_the_place_of_a_hook_decides() {
        let hook = own(&[("timeout", json!(5))]);
        let key = "/h/hooks.json:user_prompt_submit:1:0";
        let state = |state: Value| trust(&hook, "/h/hooks.json", Some(&json!({key: state})));
        assert_eq!(trust(&hook, "/h/hooks.json", None), Trust::Untrusted);
        assert_eq!(state(json!({"trusted_hash": hash(&hook)})), Trust::Trusted);
        assert_eq!(state(json!({"trusted_hash": hash(&hook), "enabled": true})), Trust::Trusted);
        assert_eq!(state(json!({"trusted_hash": "sha256:0"})), Trust::Modified);
        assert_eq!(state(json!({"enabled": true})), Trust::Untrusted);
        let off = json!({"trusted_hash": hash(&hook), "enabled": false});
        assert_eq!(state(off), Trust::Disabled);
        assert_eq!(trust(&hook, "/other", Some(&json!({key: {}}))), Trust::Untrusted);
        let moved = json!({"/h/hooks.json:user_prompt_submit:0:0": {"trusted_hash": hash(&hook)}});
        assert_eq!(trust(&hook, "/h/hooks.json", Some(&moved)), Trust::Modified);
    }

    #[test]
    fn what_says_the_same_has_the_same_hash() {
        let plain = hash(&own(&[]));
        assert_eq!(plain.len(), "sha256:".len() + 64);
        for same in [
            own(&[("timeout", json!(600))]),
            own(&[("async", json!(false))]),
            own(&[("unknown", json!(1))]),
            own(&[("additionalContextLimit", json!(2500))]),
        ] {
            assert_eq!(hash(&same), plain);
        }
        for other in [
            own(&[("timeout", json!(5))]),
            own(&[("async", json!(true))]),
            own(&[("statusMessage", json!("tma1"))]),
        ] {
            assert_ne!(hash(&other), plain);
        }
    }

    #[test]
    fn one_hook_that_does_not_run_is_a_failure() {
        assert_eq!(judge(&[]).status, Status::Skipped);
        assert_eq!(judge(&[Trust::Trusted; 2]).status, Status::Ok);
        for (bad, word) in [
            (Trust::Untrusted, "never trusted"),
            (Trust::Modified, "moved by a hook before them"),
            (Trust::Disabled, "switched off"),
        ] {
            let found = judge(&[Trust::Trusted, bad]);
            assert_eq!(found.status, Status::Failure);
            assert!(found.what.starts_with("1 of 2") && found.what.contains(word), "{found:?}");
        }
    }
}
