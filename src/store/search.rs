//! The text that full-text search sees, for what is written and for what is asked alike.

/// `text` as the tokenizer is to see it: words of letters and digits, with a space around each
/// character of a script that puts none between its words, so that any part of a sentence is found.
/// Signs are left to the tokenizer, which takes `snake_case`, `a.b::c` and paths apart at them.
pub fn segmented(text: &str) -> String {
    let mut segmented = String::with_capacity(text.len() + text.len() / 4);
    for character in text.chars() {
        if is_word_of_its_own(character) {
            segmented.extend([' ', character, ' ']);
        } else if character == '\0' {
            // The tokenizer would see nothing behind it.
            segmented.push(' ');
        } else {
            segmented.push(character);
        }
    }
    segmented
}

/// What is indexed beside a text, so that a search that is narrowed looks at no text of others: a word
/// for the agent, the kind of the message and the project.
pub fn facets(agent: &str, kind: &str, project_root: Option<&str>) -> String {
    let project = project_root.map(project_facet).unwrap_or_default();
    format!("{} {} {project}", agent_facet(agent), kind_facet(kind))
}

/// The word for an agent, by its name.
pub fn agent_facet(agent: &str) -> String {
    word("agent", agent)
}

/// The word for the kind of a message, as the store calls it.
pub fn kind_facet(kind: &str) -> String {
    word("kind", kind)
}

/// The word for a project. A path has signs and may be long, so it is a digest of it.
pub fn project_facet(root: &str) -> String {
    use sha2::{Digest, Sha256};

    let digest = Sha256::digest(root.as_bytes());
    digest.iter().take(8).fold("project".to_owned(), |word, byte| format!("{word}{byte:02x}"))
}

/// A name after what it names, in one word for the tokenizer.
fn word(what: &str, name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).fold(what.to_owned(), |mut word, letter| {
        word.push(letter);
        word
    })
}

/// Whether the character stands for itself in the index: Chinese, Japanese and Korean, and the scripts
/// of south-east Asia without spaces.
pub fn is_word_of_its_own(character: char) -> bool {
    matches!(
        character,
        '\u{0e00}'..='\u{0eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{2fdf}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3021}'..='\u{3029}'
            | '\u{3031}'..='\u{312f}'
            | '\u{3130}'..='\u{318f}'
            | '\u{31a0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{a960}'..='\u{a97f}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn characters_without_spaces_between_words_stand_apart() {
        assert_eq!(segmented("fix 修复bug now"), "fix  修  复 bug now");
        assert_eq!(segmented("snake_case a.b::c é"), "snake_case a.b::c é");
    }

    #[test]
    fn what_people_look_for_is_found() {
        let index = Connection::open_in_memory().unwrap();
        index
            .execute_batch("CREATE VIRTUAL TABLE t USING fts5 (content, tokenize='unicode61')")
            .unwrap();
        let text = "请修复登录错误 in crate::store::open_file, src/main.rs\0 テスト 로그인";
        index.execute("INSERT INTO t VALUES (?1)", [segmented(text)]).unwrap();
        let finds = |words: &str| {
            let query = format!("\"{}\"", segmented(words));
            let count = "SELECT count(*) FROM t WHERE t MATCH ?1";
            index.query_row(count, [query], |row| row.get::<_, i64>(0)).unwrap() == 1
        };
        for words in ["登录", "修复", "open_file", "store::open", "src/main.rs", "スト", "그인"]
        {
            assert!(finds(words), "{words}");
        }
        for words in ["录登", "main.py", "close_file"] {
            assert!(!finds(words), "{words}");
        }
    }
}
