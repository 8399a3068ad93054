//! A strict reader of the statements that an exporter sends, by the rules of GreptimeDB's dialect.
//!
//! What the server does not take is refused here in its words.

use std::fmt;

/// A literal, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Literal {
    Null,
    Text(String),
    Integer(i64),
    Boolean(bool),
}

/// A statement.
#[derive(Debug, PartialEq, Eq)]
pub enum Statement {
    CreateDatabase(String),
    CreateTable {
        name: String,
        columns: Vec<(String, String, bool)>,
        key: Vec<String>,
        ttl: String,
    },
    AddColumns {
        table: String,
        columns: Vec<(String, String)>,
    },
    Insert {
        table: String,
        columns: Vec<String>,
        rows: Vec<Vec<Literal>>,
    },
    /// Left to others.
    Select(String),
}

/// An error of the server: its code and its words.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal(pub i64, pub String);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.1, self.0)
    }
}

fn syntax(what: impl fmt::Display) -> Refusal {
    Refusal(2000, format!("Invalid SQL syntax: sql parser error: {what}"))
}

/// Reads one statement.
pub fn parse(sql: &str) -> Result<Statement, Refusal> {
    let mut reader = Reader { rest: sql };
    if sql.starts_with("SELECT ") {
        return Ok(Statement::Select(sql.to_owned()));
    }
    let statement = if reader.takes("INSERT INTO ") {
        reader.insert()?
    } else if reader.takes("CREATE DATABASE IF NOT EXISTS ") {
        Statement::CreateDatabase(reader.identifier()?)
    } else if reader.takes("CREATE TABLE IF NOT EXISTS ") {
        reader.create_table()?
    } else if reader.takes("ALTER TABLE ") {
        reader.add_columns()?
    } else {
        let word = sql.split(' ').next().unwrap_or_default();
        return Err(Refusal(1001, format!("SQL statement is not supported, keyword: {word}")));
    };
    reader.ends()?;
    Ok(statement)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n']);
    }

    /// Whether `word` comes next, which is then passed.
    fn takes(&mut self, word: &str) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(word.trim_end());
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, word: &str) -> Result<(), Refusal> {
        if self.takes(word) {
            return Ok(());
        }
        let found = self.rest.chars().next().map_or("EOF".to_owned(), String::from);
        Err(syntax(format_args!("Expected: {word}, found: {found}")))
    }

    fn ends(&mut self) -> Result<(), Refusal> {
        self.space();
        if self.rest.is_empty() { Ok(()) } else { Err(syntax("Expected: end of statement")) }
    }

    /// A text between `quote`s, in which a doubled one is one.
    fn quoted(&mut self, quote: char) -> Result<String, Refusal> {
        self.space();
        let mut characters = self.rest.char_indices().peekable();
        let mut text = String::new();
        if characters.next().map(|(_, it)| it) != Some(quote) {
            return Err(syntax(format_args!("Expected: {quote}")));
        }
        while let Some((at, character)) = characters.next() {
            if character != quote {
                text.push(character);
            } else if characters.next_if(|(_, next)| *next == quote).is_some() {
                text.push(quote);
            } else {
                self.rest = &self.rest[at + 1..];
                return Ok(text);
            }
        }
        Err(syntax("Unterminated string literal"))
    }

    fn identifier(&mut self) -> Result<String, Refusal> {
        self.quoted('"')
    }

    fn word(&mut self) -> String {
        self.space();
        let is_part = |it: char| it.is_ascii_alphanumeric() || "-+._()".contains(it);
        let depth_end = self.rest.find(|it: char| !is_part(it)).unwrap_or(self.rest.len());
        let word = &self.rest[..depth_end];
        // A parenthesis that closes what this word did not open is not part of it.
        let word = if word.contains('(') { word } else { word.trim_end_matches(')') };
        self.rest = &self.rest[word.len()..];
        word.to_owned()
    }

    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Refusal>,
    ) -> Result<Vec<T>, Refusal> {
        self.expect("(")?;
        let mut items = vec![item(self)?];
        while self.takes(",") {
            items.push(item(self)?);
        }
        self.expect(")")?;
        Ok(items)
    }

    fn literal(&mut self) -> Result<Literal, Refusal> {
        self.space();
        if self.rest.starts_with('\'') {
            return self.quoted('\'').map(Literal::Text);
        }
        match self.word().as_str() {
            "NULL" => Ok(Literal::Null),
            "true" => Ok(Literal::Boolean(true)),
            "false" => Ok(Literal::Boolean(false)),
            number => number.parse().map(Literal::Integer).map_err(|error| {
                Refusal(
                    2000,
                    format!("Failed to parse value: Fail to parse number {number}, {error:?}"),
                )
            }),
        }
    }

    fn insert(&mut self) -> Result<Statement, Refusal> {
        let table = self.identifier()?;
        let columns = self.list(Self::identifier)?;
        self.expect("VALUES")?;
        let mut rows = vec![self.list(Self::literal)?];
        while self.takes(",") {
            rows.push(self.list(Self::literal)?);
        }
        if let Some(row) = rows.iter().find(|row| row.len() != columns.len()) {
            let (columns, values) = (columns.len(), row.len());
            let error = format!(
                "Invalid SQL, error: column count mismatch, columns: {columns}, values: {values}"
            );
            return Err(Refusal(1004, error));
        }
        Ok(Statement::Insert { table, columns, rows })
    }

    fn create_table(&mut self) -> Result<Statement, Refusal> {
        let name = self.identifier()?;
        self.expect("(")?;
        let (mut columns, mut key) = (Vec::new(), Vec::new());
        loop {
            if self.takes("TIME INDEX") {
                self.list(Self::identifier)?;
            } else if self.takes("PRIMARY KEY") {
                key = self.list(Self::identifier)?;
            } else {
                let column = self.identifier()?;
                let kind = self.word();
                let is_required = self.takes("NOT NULL");
                if !is_required {
                    self.expect("NULL")?;
                }
                if self.takes("FULLTEXT INDEX") {
                    self.expect("WITH")?;
                    self.list(Self::option)?;
                } else if !self.takes("INVERTED INDEX") {
                    self.takes("SKIPPING INDEX");
                }
                columns.push((column, kind, is_required));
            }
            if !self.takes(",") {
                break;
            }
        }
        self.expect(")")?;
        self.expect("ENGINE = mito WITH")?;
        let options = self.list(|reader| {
            reader.quoted('\'')?;
            reader.expect("=")?;
            reader.quoted('\'')
        })?;
        Ok(Statement::CreateTable { name, columns, key, ttl: options.concat() })
    }

    fn option(&mut self) -> Result<String, Refusal> {
        self.word();
        self.expect("=")?;
        self.quoted('\'')
    }

    fn add_columns(&mut self) -> Result<Statement, Refusal> {
        let table = self.identifier()?;
        let mut columns = Vec::new();
        loop {
            self.expect("ADD COLUMN IF NOT EXISTS")?;
            let column = self.identifier()?;
            columns.push((column, self.word()));
            self.expect("NULL")?;
            if !self.takes(",") {
                return Ok(Statement::AddColumns { table, columns });
            }
        }
    }
}
