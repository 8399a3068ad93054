//! From text to simple commands.

use crate::agent::shell::{Part, Redirect, Script, Then, Word};

/// How many simple commands are looked at: more of them are a program, and nobody's build.
const MAX_PARTS: usize = 512;

/// Takes a command line apart.
pub(super) fn parse(line: &str) -> Option<Script<'_>> {
    let mut parser = Parser { line, at: 0, parts: Vec::new(), is_plain: true, pending: Vec::new() };
    let mut part = Part::default();
    while let Some(next) = parser.peek() {
        match next {
            ' ' | '\t' | '\r' => parser.bump(),
            '#' => {
                parser.skip_to('\n');
            }
            '\n' => {
                parser.bump();
                parser.end(&mut part, Then::Next);
                parser.take_documents();
            }
            '(' | ')' => {
                parser.is_plain = false;
                parser.bump();
                parser.end(&mut part, Then::Next);
            }
            _ if parser.eat("\\\n") || parser.eat("\\\r\n") => {}
            _ => {
                if let Some(operator) = parser.redirect_operator() {
                    parser.redirect(&mut part, operator)?;
                } else if let Some(then) = parser.joint() {
                    parser.end(&mut part, then);
                } else {
                    part.words.push(parser.word()?);
                }
            }
        }
    }
    parser.end(&mut part, Then::Next);
    parser.take_documents();
    let is_short = parser.parts.len() <= MAX_PARTS;
    is_short.then_some(Script { parts: parser.parts, is_plain: parser.is_plain })
}

struct Parser<'a> {
    line: &'a str,
    at: usize,
    parts: Vec<Part<'a>>,
    is_plain: bool,
    /// Here-documents whose text comes after the line: of which part, which redirection.
    pending: Vec<(usize, usize)>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.line.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Goes on to the next `end`, or to the end of the line; says whether it is there.
    fn skip_to(&mut self, end: char) -> bool {
        let found = self.rest().find(end);
        self.at = found.map_or(self.line.len(), |length| self.at + length);
        found.is_some()
    }

    fn end(&mut self, part: &mut Part<'a>, then: Then) {
        if part.words.is_empty() && part.redirects.is_empty() {
            // After a subshell, or a line that goes on.
            if let (Some(last), true) = (self.parts.last_mut(), then != Then::Next) {
                last.then = then;
            }
            return;
        }
        part.then = then;
        self.parts.push(std::mem::take(part));
    }

    fn joint(&mut self) -> Option<Then> {
        [
            (";;", Then::Next),
            (";", Then::Next),
            ("&&", Then::And),
            ("&", Then::Background),
            ("||", Then::Or),
            ("|&", Then::Pipe),
            ("|", Then::Pipe),
        ]
        .into_iter()
        .find_map(|(text, then)| self.eat(text).then_some(then))
    }

    fn redirect_operator(&mut self) -> Option<&'a str> {
        const OPERATORS: [&str; 12] =
            ["<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">", "&>>", "&>"];
        let digits = self.rest().chars().take_while(char::is_ascii_digit).count();
        let after = self.rest().get(digits..).unwrap_or_default();
        let operator = OPERATORS.iter().find(|operator| after.starts_with(**operator))?;
        let is_one = digits == 0 || !operator.starts_with('&');
        let operator = self.rest().get(..digits + operator.len()).filter(|_| is_one)?;
        self.at += operator.len();
        Some(operator)
    }

    fn redirect(&mut self, part: &mut Part<'a>, operator: &'a str) -> Option<()> {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.bump();
        }
        if self.peek() == Some('(') {
            // `<(command)`: a word that names a pipe.
            self.is_plain = false;
            return Some(());
        }
        let target = self.word()?;
        if matches!(operator.trim_start_matches(|c: char| c.is_ascii_digit()), "<<" | "<<-") {
            self.pending.push((self.parts.len(), part.redirects.len()));
        }
        part.redirects.push(Redirect { operator, target, body: None });
        Some(())
    }

    /// Takes the texts of the here-documents that the line before has announced. One that does not
    /// end goes on to the end of the script, as in a shell.
    fn take_documents(&mut self) {
        for (part, redirect) in std::mem::take(&mut self.pending) {
            let text = self.rest();
            let found = self.parts.get_mut(part).and_then(|part| part.redirects.get_mut(redirect));
            let Some(redirect) = found else { continue };
            let is_end = |line: &str| {
                let line = line.trim_end_matches(['\r', '\n']);
                let indented = redirect.operator.ends_with('-');
                let line = if indented { line.trim_start_matches('\t') } else { line };
                line == redirect.target.value
            };
            let mut length = 0;
            let mut taken = text.len();
            for line in text.split_inclusive('\n') {
                if is_end(line) {
                    taken = length + line.len();
                    break;
                }
                length += line.len();
            }
            redirect.body = text.get(..length);
            self.at += taken;
        }
    }

    fn word(&mut self) -> Option<Word<'a>> {
        let start = self.at;
        let mut value = String::new();
        let mut is_literal = self.peek() != Some('~');
        while let Some(next) = self.peek() {
            match next {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    self.bump();
                    let text = self.rest();
                    if !self.skip_to('\'') {
                        return None;
                    }
                    value.push_str(text.strip_suffix(self.rest()).unwrap_or_default());
                    self.bump();
                }
                '"' => self.double_quoted(&mut value, &mut is_literal)?,
                '\\' => {
                    self.bump();
                    if !self.eat("\n") {
                        value.extend(self.peek());
                        self.bump();
                    }
                }
                '$' | '`' => self.expansion(&mut value, &mut is_literal)?,
                _ => {
                    is_literal &= !matches!(next, '*' | '?' | '[' | '{');
                    value.push(next);
                    self.bump();
                }
            }
        }
        Some(Word { raw: self.line.get(start..self.at).unwrap_or_default(), value, is_literal })
    }

    fn double_quoted(&mut self, value: &mut String, is_literal: &mut bool) -> Option<()> {
        self.bump();
        loop {
            match self.peek()? {
                '"' => {
                    self.bump();
                    return Some(());
                }
                '\\' => {
                    self.bump();
                    match self.peek()? {
                        '\n' => {}
                        escaped @ ('$' | '`' | '"' | '\\') => value.push(escaped),
                        other => value.extend(['\\', other]),
                    }
                    self.bump();
                }
                '$' | '`' => self.expansion(value, is_literal)?,
                other => {
                    value.push(other);
                    self.bump();
                }
            }
        }
    }

    /// What begins with `$` or a backtick: its value is not known, its end is.
    fn expansion(&mut self, value: &mut String, is_literal: &mut bool) -> Option<()> {
        let start = self.at;
        let is_tick = self.eat("`");
        if !is_tick {
            self.bump();
        }
        match self.peek() {
            _ if is_tick => self.skip_nested('`')?,
            Some('(') => {
                self.bump();
                self.skip_nested(')')?;
            }
            Some('{') => {
                self.bump();
                self.skip_nested('}')?;
            }
            Some('\'') => {
                self.bump();
                while self.peek()? != '\'' {
                    if self.peek() == Some('\\') {
                        self.bump();
                    }
                    self.bump();
                }
                self.bump();
            }
            Some(next) if next.is_ascii_alphanumeric() || "_@*#?$!-".contains(next) => self.bump(),
            _ => {
                value.push('$');
                return Some(());
            }
        }
        *is_literal = false;
        let text = self.line.get(start..self.at).unwrap_or_default();
        self.is_plain &= !text.contains("$(") && !text.contains('`');
        Some(())
    }

    /// Skips a substitution whose opening was read, with its end.
    fn skip_nested(&mut self, end: char) -> Option<()> {
        let mut open = vec![end];
        while let Some(end) = open.last().copied() {
            let next = self.peek()?;
            self.bump();
            match next {
                _ if next == end => {
                    open.pop();
                }
                '\\' => self.bump(),
                '$' if self.eat("(") => open.push(')'),
                '$' if self.eat("{") => open.push('}'),
                '`' => open.push('`'),
                _ if end == '"' => {}
                '\'' => {
                    self.skip_to('\'').then_some(())?;
                    self.bump();
                }
                '"' => open.push('"'),
                '(' => open.push(')'),
                _ => {}
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The script in one line: words with `?` if their value is not known, joints as names.
    fn shape(line: &str) -> String {
        let Some(script) = parse(line) else { return "broken".to_owned() };
        let mut shape = Vec::new();
        for part in &script.parts {
            for word in &part.words {
                let mark = if word.is_literal { "" } else { "?" };
                shape.push(format!("<{}{mark}>", word.value));
            }
            for redirect in &part.redirects {
                shape.push(format!("[{} {}]", redirect.operator, redirect.target.value));
                shape.extend(redirect.body.map(|body| format!("{body:?}")));
            }
            shape.push(format!(" {:?} ", part.then));
        }
        if !script.is_plain {
            shape.push("(not plain)".to_owned());
        }
        shape.concat().trim_end().to_owned()
    }

    #[test]
    fn a_line_becomes_its_commands() {
        for (line, expected) in [
            ("", ""),
            ("cat a b", "<cat><a><b> Next"),
            ("a&&b||c;d|e|&f&", "<a> And <b> Or <c> Next <d> Pipe <e> Pipe <f> Background"),
            ("a &&\n  b # why\nc", "<a> And <b> Next <c> Next"),
            ("a \\\n b", "<a><b> Next"),
            ("a#b '#c'", "<a#b><#c> Next"),
            (r#"a 'b  c' "d\"e\n$" f\ g"#, r#"<a><b  c><d"e\n$><f g> Next"#),
            ("a *.rs $x ~/y {1,2} \"$y\" $'z'", "<a><*.rs?><?><~/y?><{1,2}?><?><?> Next"),
            ("a '*' \"~\" b~", "<a><*><~><b~> Next"),
            ("X=1 a 2>&1 >b <c", "<X=1><a>[2>& 1][> b][< c] Next"),
            ("a &>b 2", "<a><2>[&> b] Next"),
            ("a2>b", "<a2>[> b] Next"),
            ("a $(b; c ')' \"$(d)\") e", "<a><?><e> Next (not plain)"),
            ("a `b` \"`c`\"", "<a><?><?> Next (not plain)"),
            ("a ${b:-$(c)}", "<a><?> Next (not plain)"),
            ("a ${b:-c}", "<a><?> Next"),
            ("(a; b) | c", "<a> Next <b> Pipe <c> Next (not plain)"),
            ("diff <(a) <(b)", "<diff> Next <a> Next <b> Next (not plain)"),
            ("a <<< b", "<a>[<<< b] Next"),
            ("a 'b", "broken"),
            ("a \"b", "broken"),
            ("a $(b", "broken"),
        ] {
            assert_eq!(shape(line), expected, "{line}");
        }
    }

    #[test]
    fn a_here_document_is_no_command() {
        for (line, expected) in [
            (
                "cat <<'EOF' >a && b\nx 'y\nEOF\nc",
                "<cat>[<< EOF]\"x 'y\\n\"[> a] And <b> Next <c> Next",
            ),
            ("cat <<-E\n\tx\n\tE\nc", "<cat>[<<- E]\"\\tx\\n\" Next <c> Next"),
            ("cat <<E", "<cat>[<< E]\"\" Next"),
            ("cat <<E\nx", "<cat>[<< E]\"x\" Next"),
            ("cat <<A <<B\n1\nA\n2\nB\nc", "<cat>[<< A]\"1\\n\"[<< B]\"2\\n\" Next <c> Next"),
        ] {
            assert_eq!(shape(line), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(line in r#"[a$(){}'"`\\;|&<># \n=*~é-]{0,40}"#) {
            if let Some(script) = parse(&line) {
                let raw: usize = script.parts.iter().flat_map(|part| &part.words).map(|word| word.raw.len()).sum();
                prop_assert!(raw <= line.len());
            }
        }

        #[test]
        fn a_quoted_word_comes_back(word in any::<String>()) {
            if let Ok(quoted) = shlex::try_quote(&word) {
                let line = format!("a {quoted} b");
                let script = parse(&line).unwrap();
                let words: Vec<&str> =
                    script.parts[0].words.iter().map(|word| word.value.as_str()).collect();
                prop_assert_eq!(words, ["a", &word, "b"]);
                prop_assert!(script.is_plain && script.parts[0].words[1].is_literal);
            }
        }
    }
}
