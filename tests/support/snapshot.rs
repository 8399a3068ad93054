//! What users see, compared with `snapshots/`.

use super::home::TestHome;

/// Compares `text`, in which what differs from run to run is replaced, with the snapshot `name`.
#[track_caller]
pub fn assert_snapshot(name: &str, text: &str, replaced: &[(&str, &str)]) {
    let text = replaced.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

impl TestHome {
    /// `text` without the paths and the port of this home.
    pub fn anonymous(&self, text: &str) -> String {
        text.replace(&self.home().display().to_string(), "[HOME]")
            .replace(&self.root().display().to_string(), "[ROOT]")
            .replace(&self.port().to_string(), "[PORT]")
    }
}
