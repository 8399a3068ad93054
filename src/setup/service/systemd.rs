//! A unit of `systemd --user`, by systemd.unit(5), systemd.service(5) and systemd.syntax(7).

use std::path::PathBuf;

use crate::setup::service::{Call, Definition, HEAD, Service};

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

/// What a unit of ours says, whoever has changed other lines of it since.
pub(super) fn read(unit: &str) -> Option<Definition> {
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/env "))?;
    let mut command = words(command, Dollar::Doubled)?.into_iter();
    let program = PathBuf::from(command.next()?);
    let port = super::port(command)?;
    let variables = unit.lines().filter_map(|line| line.strip_prefix("Environment="));
    let mut variables = variables.filter_map(|line| words(line, Dollar::Kept)).flatten();
    let data_dir = variables.find_map(|it| it.strip_prefix("TMA1_DATA_DIR=").map(PathBuf::from))?;
    Some(Definition { program, port, data_dir })
}

/// The words of a line, each in quotes as [`quoted`] makes them; none if there is anything else.
fn words(line: &str, dollar: Dollar) -> Option<Vec<String>> {
    let (mut words, mut rest) = (Vec::new(), line.trim_start().chars().peekable());
    while rest.next_if_eq(&'"').is_some() {
        let mut word = Vec::new();
        loop {
            match rest.next()? {
                '"' => break,
                '\\' => match rest.next()? {
                    'n' => word.push(b'\n'),
                    'x' => {
                        let digits: String = rest.by_ref().take(2).collect();
                        word.push(u8::from_str_radix(&digits, 16).ok()?);
                    }
                    c @ ('"' | '\\') => word.extend(c.to_string().bytes()),
                    _ => return None,
                },
                c @ ('%' | '$') if c == '%' || dollar == Dollar::Doubled => {
                    rest.next_if_eq(&c)?;
                    word.extend(c.to_string().bytes());
                }
                c => word.extend(c.to_string().bytes()),
            }
        }
        words.push(String::from_utf8(word).ok()?);
        while rest.next_if_eq(&' ').is_some() {}
    }
    rest.next().is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_word_reads_as_what_was_written(text in "[^\0]{0,40}") {
            for dollar in [Dollar::Kept, Dollar::Doubled] {
                let word = quoted(&text, dollar);
                prop_assert!(!word.contains(char::is_control));
                prop_assert_eq!(words(&word, dollar), Some(vec![text.clone()]));
            }
        }

        #[test]
        fn what_was_written_is_read_again(program in "/[^\0]{0,20}", root in "/[^\0]{0,20}", port: u16) {
            let service = Service {
                program: &program,
                arguments: ["serve", "--detached", "--port", &port.to_string()].map(str::to_owned),
                environment: vec![("TMA1_DATA_DIR".to_owned(), root.clone())],
            };
            let definition = read(&unit(&service));
            let expected = Definition { program: program.into(), port, data_dir: root.into() };
            prop_assert_eq!(definition, Some(expected));
        }

        #[test]
        fn any_other_unit_is_read_without_harm(text in "[\"\\\\%$x0-9a-f ]{0,30}") {
            for dollar in [Dollar::Kept, Dollar::Doubled] {
                if let Some(read) = words(&text, dollar) {
                    let again: Vec<_> = read.iter().map(|word| quoted(word, dollar)).collect();
                    prop_assert_eq!(words(&again.join(" "), dollar), Some(read));
                }
            }
        }
    }
}
