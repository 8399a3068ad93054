//! How much the window of a Claude model holds. Its transcripts don't say.

const STANDARD: u64 = 200_000;
const LARGE: u64 = 1_000_000;

/// What a user adds to the name of a model to have its large window.
const LARGE_MARK: &str = "[1m]";

/// The size of the window, from the name that the API gives the model and, of clients that write it
/// down, the one that was asked for. None if it is not certain: a wrong one would make us warn of a
/// window that is half empty.
///
/// The sizes are those in the table of models of Claude Code 2.1.332.
pub(super) fn context_window(model: &str, requested: Option<&str>) -> Option<u64> {
    let name = requested.unwrap_or(model).to_ascii_lowercase();
    if name.contains(LARGE_MARK) {
        return Some(LARGE);
    }
    match version(&name)? {
        ("haiku", version) if version < (5, 5) => Some(STANDARD),
        ("sonnet", version) if version < (4, 0) => Some(STANDARD),
        ("opus", version) if version < (4, 6) => Some(STANDARD),
        // These have either window, and only the name that was asked for tells.
        ("sonnet", (4, _)) | ("opus", (4, 6)) => requested.map(|_| STANDARD),
        ("haiku" | "sonnet" | "opus" | "fable" | "mythos", _) => Some(LARGE),
        _ => None,
    }
}

/// The family and the version in a name such as `us.anthropic.claude-opus-4-1-20250805-v1:0` or
/// `claude-3-5-sonnet@20241022`.
fn version(name: &str) -> Option<(&str, (u32, u32))> {
    let (_, name) = name.split_once("claude-")?;
    let mut parts = name.split(|character: char| !character.is_ascii_alphanumeric()).peekable();
    let mut family = parts.next_if(|part| number(part).is_none());
    let major = number(parts.next()?)?;
    let minor = parts.next_if(|part| number(part).is_some()).and_then(number).unwrap_or(0);
    if family.is_none() {
        family = parts.next();
    }
    Some((family?, (major, minor)))
}

/// A part of a version, which a date is not.
fn number(part: &str) -> Option<u32> {
    part.parse().ok().filter(|number| *number < 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_the_one_of_the_model_that_was_asked_for() {
        for (model, requested, size) in [
            ("claude-opus-5-5", Some("claude-opus-5-5"), Some(LARGE)),
            ("claude-opus-5-5", None, Some(LARGE)),
            ("claude-opus-4-7", None, Some(LARGE)),
            ("claude-sonnet-5", None, Some(LARGE)),
            ("claude-haiku-5-5", None, Some(LARGE)),
            ("claude-fable-5-2", None, Some(LARGE)),
            ("claude-mythos-5", None, Some(LARGE)),
            ("claude-haiku-4-5-20251001", None, Some(STANDARD)),
            ("claude-opus-4-5-20251101", None, Some(STANDARD)),
            ("us.anthropic.claude-opus-4-1-20250805-v1:0", None, Some(STANDARD)),
            ("claude-opus-4@20250514", None, Some(STANDARD)),
            ("claude-3-5-sonnet-20241022", None, Some(STANDARD)),
            ("claude-3-opus-20240229", None, Some(STANDARD)),
            ("claude-sonnet-4-5", Some("claude-sonnet-4-5[1m]"), Some(LARGE)),
            ("claude-sonnet-4-5", Some("claude-sonnet-4-5"), Some(STANDARD)),
            ("claude-opus-4-6", Some("claude-opus-4-6"), Some(STANDARD)),
            ("claude-opus-4-6[1M]", None, Some(LARGE)),
            ("claude-sonnet-4-5-20250929", None, None),
            ("claude-sonnet-4-20250514", None, None),
            ("claude-opus-4-6", None, None),
            ("claude-nova-1", None, None),
            ("claude-opus", None, None),
            ("claude-", None, None),
            ("gpt-5.5", None, None),
            ("", None, None),
        ] {
            assert_eq!(context_window(model, requested), size, "{model} {requested:?}");
        }
    }
}
