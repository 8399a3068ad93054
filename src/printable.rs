//! Text of others on a terminal.

/// `text` in one line, with what would steer a terminal, or turn the direction of writing, made
/// visible.
pub fn printable(text: &str) -> String {
    let steers = |character: char| {
        character.is_control()
            || matches!(
                character,
                '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            )
    };
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        if steers(character) {
            visible.extend(character.escape_unicode());
        } else {
            visible.push(character);
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_and_everything_else_stays() {
        for (text, visible) in [
            ("/home/José/项目 🦀/it's \\", "/home/José/项目 🦀/it's \\"),
            ("a\u{1b}[8mb\u{9b}31m", "a\\u{1b}[8mb\\u{9b}31m"),
            ("a\nCreated b\r\tc\u{7f}", "a\\u{a}Created b\\u{d}\\u{9}c\\u{7f}"),
            ("a\u{202e}b\u{2066}", "a\\u{202e}b\\u{2066}"),
        ] {
            assert_eq!(printable(text), visible);
        }
    }
}
