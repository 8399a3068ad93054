//! An agent of `launchd`, by launchd.plist(5) and launchctl(1).

use std::path::PathBuf;

use crate::setup::script::UnwritablePath;
use crate::setup::service::{Call, Definition, HEAD, Service};

/// Under which name `launchd` knows the service.
pub(super) const LABEL: &str = "ai.tma1.daemon";

pub(super) fn call<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Call {
    Call::new("launchctl", arguments)
}

/// The session of a user in which agents run.
pub(super) fn domain(user: u32) -> String {
    format!("gui/{user}")
}

/// The service in it.
pub(super) fn target(user: u32) -> String {
    format!("{}/{LABEL}", domain(user))
}

/// The text of the property list.
///
/// It is started again if it crashes, and not if it ends by itself: another start would not mend
/// that.
pub(super) fn property_list(service: &Service<'_>) -> Result<String, UnwritablePath> {
    let words = [service.program].into_iter().chain(service.arguments.iter().map(String::as_str));
    let words = words.map(|word| Ok(format!("    <string>{}</string>\n", escaped(word)?)));
    let arguments: String = words.collect::<Result<_, UnwritablePath>>()?;
    let variables = service.environment.iter().map(|(name, value)| {
        let (name, value) = (escaped(name)?, escaped(value)?);
        Ok(format!("    <key>{name}</key>\n    <string>{value}</string>\n"))
    });
    let environment: String = variables.collect::<Result<_, UnwritablePath>>()?;
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!-- {HEAD} -->\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <plist version=\"1.0\">\n\
         <dict>\n\
         \x20 <key>Label</key>\n\
         \x20 <string>{LABEL}</string>\n\
         \x20 <key>ProgramArguments</key>\n\
         \x20 <array>\n{arguments}\x20 </array>\n\
         \x20 <key>EnvironmentVariables</key>\n\
         \x20 <dict>\n{environment}\x20 </dict>\n\
         \x20 <key>WorkingDirectory</key>\n\
         \x20 <string>/</string>\n\
         \x20 <key>Umask</key>\n\
         \x20 <integer>63</integer>\n\
         \x20 <key>ProcessType</key>\n\
         \x20 <string>Background</string>\n\
         \x20 <key>RunAtLoad</key>\n\
         \x20 <true/>\n\
         \x20 <key>KeepAlive</key>\n\
         \x20 <dict>\n\
         \x20   <key>Crashed</key>\n\
         \x20   <true/>\n\
         \x20 </dict>\n\
         </dict>\n\
         </plist>\n"
    ))
}

/// `text` as the content of an XML element. XML has no way to write most control characters.
fn escaped(text: &str) -> Result<String, UnwritablePath> {
    let is_unwritable = |c: char| {
        (c.is_control() && !matches!(c, '\t' | '\n')) || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    if text.contains(is_unwritable) {
        return Err(UnwritablePath::new(PathBuf::from(text)));
    }
    Ok(text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
}

/// What a property list of ours says.
pub(super) fn read(list: &str) -> Option<Definition> {
    let (_, arguments) = list.split_once("<key>ProgramArguments</key>")?;
    let (arguments, _) = arguments.split_once("</array>")?;
    let mut command = arguments.split("<string>").skip(1).filter_map(content);
    let program = PathBuf::from(command.next()?);
    let port = super::port(command)?;
    let (_, data_dir) = list.split_once("<key>TMA1_DATA_DIR</key>")?;
    let data_dir = content(data_dir.split_once("<string>")?.1)?.into();
    Some(Definition { program, port, data_dir })
}

/// The text up to the end of its element.
fn content(text: &str) -> Option<String> {
    let (text, _) = text.split_once("</string>")?;
    Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_property_list_has_all_that_the_service_needs() {
        let service = Service {
            program: "/Users/dev/a & b/tma1",
            arguments: ["serve", "--detached", "--port", "14318"].map(str::to_owned),
            environment: vec![("TMA1_DATA_DIR".to_owned(), "/Users/dev/.tma1".to_owned())],
        };
        let text = property_list(&service).unwrap();
        crate::snapshot::assert_snapshot("service-launchd", &text);
        let service = Service { program: "/Users/dev/\u{7}/tma1", ..service };
        assert!(property_list(&service).is_err());
    }

    proptest! {
        #[test]
        fn a_text_reads_as_what_was_written_or_is_refused(text in "[^\0]{0,40}") {
            if let Ok(escaped) = escaped(&text) {
                prop_assert!(!escaped.contains(['<', '>']));
                prop_assert_eq!(content(&format!("{escaped}</string>")), Some(text));
            } else {
                let is_odd = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
                prop_assert!(text.contains(is_odd));
            }
        }

        #[test]
        fn what_was_written_is_read_again(
            program in "/[^\0-\x1f\x7f-\u{9f}\u{fffe}\u{ffff}]{0,20}",
            root in "/[^\0-\x1f\x7f-\u{9f}\u{fffe}\u{ffff}]{0,20}",
            port: u16,
        ) {
            let service = Service {
                program: &program,
                arguments: ["serve", "--detached", "--port", &port.to_string()].map(str::to_owned),
                environment: vec![("TMA1_DATA_DIR".to_owned(), root.clone())],
            };
            let definition = read(&property_list(&service).unwrap());
            let expected = Definition { program: program.into(), port, data_dir: root.into() };
            prop_assert_eq!(definition, Some(expected));
        }
    }
}
