//! Variables that a command is given: by which one run of it is not like another.

/// Those that change how a run looks or how fast it is, not what it comes to.
const COSMETIC: [&str; 24] = [
    "CARGO_BUILD_JOBS",
    "CARGO_INCREMENTAL",
    "CARGO_TARGET_DIR",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "GIT_PAGER",
    "LANG",
    "LINES",
    "NEXTEST_HIDE_PROGRESS_BAR",
    "NODE_NO_WARNINGS",
    "NO_COLOR",
    "PAGER",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_LOG",
    "RUST_TEST_THREADS",
    "TERM",
    "TMPDIR",
];

/// Whether a setting such as `CI=1` makes no other run of a command.
pub(super) fn is_cosmetic(setting: &str) -> bool {
    let name = setting.split(['=', '+']).next().unwrap_or_default();
    COSMETIC.contains(&name) || name.starts_with("LC_") || name.starts_with("CARGO_TERM_")
}

/// Whether a word is a setting such as `CI=1`.
pub(super) fn is_setting(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_from_words_and_from_cosmetics() {
        for (word, setting, cosmetic) in [
            ("CI=1", true, true),
            ("RUST_LOG=debug", true, true),
            ("LC_ALL=C", true, true),
            ("FEATURE=x", true, false),
            ("NODE_ENV=production", true, false),
            ("RUSTFLAGS+=-Dwarnings", true, false),
            ("CI_X=1", true, false),
            ("--ci=1", false, false),
            ("=1", false, false),
            ("1=1", false, false),
            ("make", false, false),
        ] {
            assert_eq!((is_setting(word), is_cosmetic(word)), (setting, cosmetic), "{word}");
        }
    }
}
