//! The skills and commands that agents read, as they are in the folders of the same names.

/// A file that is copied into a folder of an agent.
#[derive(Debug)]
pub struct Asset {
    /// Where it goes in that folder.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// For the skills folder of each agent.
pub const SKILLS: &[Asset] = &[
    Asset { path: "tma1-build/SKILL.md", text: include_str!("../../skills/tma1-build/SKILL.md") },
    Asset { path: "tma1-peer/SKILL.md", text: include_str!("../../skills/tma1-peer/SKILL.md") },
    Asset { path: "tma1-recall/SKILL.md", text: include_str!("../../skills/tma1-recall/SKILL.md") },
    Asset { path: "tma1-setup/SKILL.md", text: include_str!("../../skills/tma1-setup/SKILL.md") },
];

/// For the commands folder of Claude Code.
pub const COMMANDS: &[Asset] = &[
    Asset { path: "tma1-peer.md", text: include_str!("../../commands/tma1-peer.md") },
    Asset { path: "tma1-recall.md", text: include_str!("../../commands/tma1-recall.md") },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::path::Path;

    /// The files below `folder`, by their paths in it.
    fn files(folder: &Path) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                let below = self::files(&path).into_iter();
                files.extend(below.map(|(path, text)| (format!("{name}/{path}"), text)));
            } else {
                files.insert(name.to_owned(), fs_err::read_to_string(&path).unwrap());
            }
        }
        files
    }

    #[test]
    fn everything_in_the_folders_is_in_the_tables() {
        for (folder, table) in [("skills", SKILLS), ("commands", COMMANDS)] {
            let embedded: BTreeMap<_, _> =
                table.iter().map(|a| (a.path.to_owned(), a.text.to_owned())).collect();
            assert_eq!(embedded, files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)));
        }
    }

    /// The fields between the first two lines of `---`, which every YAML parser must read as these.
    fn front_matter(asset: &Asset) -> BTreeMap<&'static str, &'static str> {
        let (head, _) = asset.text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        head.lines().map(|line| line.split_once(": ").unwrap()).collect()
    }

    #[test]
    fn both_agents_can_read_who_a_skill_is_and_when_it_helps() {
        for skill in SKILLS {
            let fields = front_matter(skill);
            let name = skill.path.strip_suffix("/SKILL.md").unwrap();
            assert_eq!(fields.keys().copied().collect::<Vec<_>>(), ["description", "name"]);
            assert_eq!(fields["name"], name);
            assert!(name.starts_with("tma1-") && name.len() <= 64, "{name}");
        }
        for asset in SKILLS.iter().chain(COMMANDS) {
            let description = front_matter(asset)["description"];
            assert!(description.chars().count() <= 1024, "{}", asset.path);
            // What would be syntax in a plain scalar.
            assert!(description.starts_with(char::is_alphabetic), "{}", asset.path);
            assert!(!description.contains(": ") && !description.contains(" #"), "{}", asset.path);
        }
    }
}
