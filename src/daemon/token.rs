//! The token by which the daemon knows the programs of its user: they can read the file, others
//! can't.

use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use crate::platform;

/// How many hexadecimal digits a token has: 32 random bytes.
const DIGITS: usize = 64;

/// A token, as it stands in its file and in the `Authorization` header.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The token in the file `path`.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = fs_err::read_to_string(path)?;
        Self::parse(text.trim()).ok_or_else(|| {
            io::Error::new(ErrorKind::InvalidData, format!("`{}` holds no token", path.display()))
        })
    }

    /// The token in the file `path`, made anew if there is none, or none that was always private. A
    /// file of somebody else's is left alone.
    pub(super) fn read_or_create(path: &Path) -> io::Result<Self> {
        let text = match fs_err::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::create(path),
            text => text?,
        };
        if !text.trim().bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let message = format!("`{}` is in the way: it is no token of tma1", path.display());
            return Err(io::Error::new(ErrorKind::InvalidData, message));
        }
        let is_private = platform::attributes(&fs_err::metadata(path)?).mode | 0o700 == 0o700;
        match Self::parse(text.trim()) {
            Some(token) if is_private => Ok(token),
            _ => Self::create(path),
        }
    }

    /// Only one daemon runs for a data directory, and readers see the whole file or none.
    fn create(path: &Path) -> io::Result<Self> {
        let mut digits = String::new();
        while digits.len() < DIGITS {
            write!(digits, "{:016x}", getrandom::u64()?).map_err(io::Error::other)?;
        }
        let token = Self(digits);
        let directory = path.parent().unwrap_or(Path::new(""));
        // It is created readable by this user alone.
        let mut file = tempfile::NamedTempFile::new_in(directory)?;
        writeln!(file, "{}", token.0)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(token)
    }

    /// A token from its text.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_token = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_token.then(|| Self(text.to_owned()))
    }

    /// The text of the token.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `text` is this token; how long that takes does not tell how much of it is right.
    pub(super) fn is(&self, text: &[u8]) -> bool {
        let difference =
            self.0.bytes().zip(text).fold(0, |found, (own, other)| found | (own ^ other));
        text.len() == self.0.len() && difference == 0
    }
}

/// Keeps the token out of messages.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        assert_eq!(Token::read(&path).unwrap_err().kind(), ErrorKind::NotFound);
        let made = Token::read_or_create(&path).unwrap();
        assert_eq!(Token::read_or_create(&path).unwrap(), made);
        assert_eq!(Token::read(&path).unwrap(), made);
        assert_eq!(fs_err::read_to_string(&path).unwrap(), format!("{}\n", made.as_str()));
    }

    #[test]
    fn a_file_with_less_than_a_token_gets_one_and_that_of_somebody_else_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        for text in ["", "abc\n"] {
            fs_err::write(&path, text).unwrap();
            assert_eq!(Token::read(&path).unwrap_err().kind(), ErrorKind::InvalidData);
            Token::read_or_create(&path).unwrap();
            Token::read(&path).unwrap();
        }
        for theirs in ["my token", &"g".repeat(64)] {
            fs_err::write(&path, theirs).unwrap();
            let error = Token::read_or_create(&path).unwrap_err();
            assert!(error.to_string().ends_with("is no token of tma1"), "{error}");
            assert_eq!(fs_err::read_to_string(&path).unwrap(), theirs);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_others_could_read_is_replaced() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let first = Token::read_or_create(&path).unwrap();
        let mode = || fs_err::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        fs_err::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        assert_ne!(Token::read_or_create(&path).unwrap(), first);
        assert_eq!(mode(), 0o600);
    }

    #[test]
    fn only_the_whole_token_is_it() {
        let text = "0123456789abcdef".repeat(4);
        let token = Token::parse(&text).unwrap();
        assert!(token.is(text.as_bytes()));
        let longer = format!("{text}0");
        let other = format!("{}0", text.get(..63).unwrap());
        for wrong in ["", text.get(..63).unwrap(), &longer, &other] {
            assert!(!token.is(wrong.as_bytes()), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
