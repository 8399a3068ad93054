//! rspec.

use crate::agent::report::count_of;

/// The examples that failed, by their descriptions.
pub(super) fn failed_tests(lines: &[&str]) -> Vec<String> {
    let has_failed = |line: &&str| {
        count_of(line, "example").is_some() && count_of(line, "failure").is_some_and(|n| n > 0)
    };
    if !lines.iter().any(has_failed) {
        return Vec::new();
    }
    lines.iter().filter_map(|line| failed(line)).map(str::to_owned).collect()
}

/// The description in a line such as `rspec ./spec/cart_spec.rb:4 # Cart adds`, else the place.
fn failed(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("rspec ")?;
    let (place, description) = rest.split_once(" # ").unwrap_or((rest, ""));
    place.contains("_spec.rb").then_some(if description.is_empty() { place } else { description })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(output: &str) -> Vec<String> {
        failed_tests(&output.lines().collect::<Vec<_>>())
    }

    #[test]
    fn failing_examples_are_named() {
        let output = "\
.F.F

Failures:

  1) Cart adds
     Failure/Error: expect(1 + 1).to eq(3)

       expected: 3
            got: 2
     # ./spec/cart_spec.rb:5:in `block (2 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.1 seconds to load)
4 examples, 2 failures

Failed examples:

rspec ./spec/cart_spec.rb:4 # Cart adds
rspec './spec/cart_spec.rb[1:2]' # Cart with items sums # up
rspec ./spec/other_spec.rb:9
";
        assert_eq!(
            names(output),
            ["Cart adds", "Cart with items sums # up", "./spec/other_spec.rb:9"]
        );
    }

    #[test]
    fn passing_examples_are_not() {
        for output in [
            "rspec ./spec/a_spec.rb:4 # printed\n4 examples, 0 failures",
            "rspec ./spec/a_spec.rb:4 # printed",
            "rspec --help\n1 example, 1 failure",
        ] {
            assert!(names(output).is_empty(), "{output}");
        }
    }
}
