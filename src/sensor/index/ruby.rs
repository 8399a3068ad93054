//! Ruby: Bundler, gems, Rails.

use super::found::Found;
use super::tree::Folder;

const GEMS: &str = "Gemfile";

pub(super) fn read(folder: Folder<'_>) -> Option<Found> {
    let gemspec = folder.with_ending(".gemspec");
    let manifest = if folder.has(GEMS) { GEMS } else { gemspec? };
    let mut found = Found::new(manifest, "Ruby", "bundler");
    found.set_name(gemspec.and_then(|name| name.strip_suffix(".gemspec")));
    found.key_files.extend(gemspec.filter(|name| *name != manifest).map(str::to_owned));
    let is_rails = folder.has("bin/rails") || folder.has("config/application.rb");
    if is_rails {
        found.build_systems.push("rails");
    }
    found.add_files(folder, &["Rakefile", "config/application.rb", "config/routes.rb"]);
    let needs = |gem: &str| {
        [Some(GEMS), gemspec].into_iter().flatten().any(|name| folder.mentions(name, gem))
    };
    if folder.has(".rspec") || folder.has("spec/spec_helper.rb") || needs("rspec") {
        found.test("rspec", "bundle exec rspec");
    }
    if folder.has_folder("test") {
        if is_rails {
            found.test("minitest", "bin/rails test");
        } else if folder.has("Rakefile") {
            found.test("minitest", "bundle exec rake test");
        }
    }
    Some(found)
}
