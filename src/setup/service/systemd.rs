//! A unit of `systemd --user`, by systemd.unit(5), systemd.service(5) and systemd.syntax(7).

use crate::setup::service::{Call, HEAD, Service};

/// The name of the unit.
pub(super) const UNIT: &str = "tma1.service";

pub(super) fn call<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Call {
    Call::new("systemctl", ["--user"].into_iter().chain(arguments))
}

/// The text of the unit.
///
/// The daemon ends with success when it is told to, and with a status when it can't run, as where
/// another one has the port: neither is mended by another start. What sandboxes a service is left
/// out: the daemon asks the kernel over netlink whose a connection is.
pub(super) fn unit(service: &Service<'_>) -> String {
    // The program itself may have no quote or backslash in its path; what `env` is told may.
    let mut command = "/usr/bin/env".to_owned();
    for word in [service.program].into_iter().chain(service.arguments.iter().map(String::as_str)) {
        command.push(' ');
        command.push_str(&quoted(word, Dollar::Doubled));
    }
    let variables = service.environment.iter().map(|(name, value)| {
        format!("Environment={}\n", quoted(&format!("{name}={value}"), Dollar::Kept))
    });
    let environment: String = variables.collect();
    format!(
        "# {HEAD}\n\
         [Unit]\n\
         Description=tma1, the daemon behind the hooks of coding agents\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={command}\n\
         {environment}\
         WorkingDirectory=/\n\
         UMask=0077\n\
         Restart=on-abnormal\n\
         RestartSec=2\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// What a dollar sign is where a text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dollar {
    /// Itself, as in assignments.
    Kept,
    /// The start of a variable, unless there are two.
    Doubled,
}

/// `text` as one word of a unit.
fn quoted(text: &str, dollar: Dollar) -> String {
    let mut word = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => word.extend(['\\', c]),
            '%' => word.push_str("%%"),
            '$' if dollar == Dollar::Doubled => word.push_str("$$"),
            '\n' => word.push_str("\\n"),
            // A line ends at a carriage return too, and other control characters are refused.
            c if c.is_control() => {
                word.extend(c.to_string().bytes().map(|byte| format!("\\x{byte:02x}")));
            }
            c => word.push(c),
        }
    }
    word.push('"');
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a word as systemd.syntax(7) says that it is read: escapes of C within double quotes, then
    /// specifiers, then variables.
    fn read(word: &str, dollar: Dollar) -> String {
        let inner = word.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
        let (mut bytes, mut rest) = (Vec::new(), inner.chars());
        while let Some(c) = rest.next() {
            assert!(c != '"' && !c.is_control(), "{word}");
            if c != '\\' {
                bytes.extend(c.to_string().bytes());
                continue;
            }
            match rest.next().unwrap() {
                'n' => bytes.push(b'\n'),
                'x' => {
                    let digits: String = rest.by_ref().take(2).collect();
                    bytes.push(u8::from_str_radix(&digits, 16).unwrap());
                }
                c @ ('"' | '\\') => bytes.push(c as u8),
                c => panic!("unknown escape {c}"),
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        let without = |text: &str, sign: char| {
            let doubled = sign.to_string().repeat(2);
            assert!(!text.replace(&doubled, "").contains(sign), "{text}");
            text.replace(&doubled, &sign.to_string())
        };
        let text = without(&text, '%');
        if dollar == Dollar::Doubled { without(&text, '$') } else { text }
    }

    proptest! {
        #[test]
        fn a_word_reads_as_what_was_written(text in "[^\0]{0,40}") {
            for dollar in [Dollar::Kept, Dollar::Doubled] {
                prop_assert_eq!(read(&quoted(&text, dollar), dollar), text.as_str());
            }
        }
    }
}
