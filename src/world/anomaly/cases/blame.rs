//! Which failures the session has caused itself.

use super::Step::*;
use super::assert_found;

#[test]
fn a_build_is_broken_by_the_edit_that_it_is_about() {
    const BROKEN: &[&str] = &["MEDIUM build_broken_after_my_edit make"];
    assert_found(&[
        ("it was broken elsewhere before", &[Edit("a.rs"), Run("make", 2)], &[]),
        (
            "it had succeeded, and fails elsewhere",
            &[Run("make", 0), Edit("a.rs"), Run("make", 2)],
            BROKEN,
        ),
        (
            "it had succeeded, long ago",
            &[
                Run("make", 0),
                Edit("a.rs"),
                Run("make", 2),
                Run("make", 2),
                Wait(60),
                Run("make", 2),
                Wait(60),
                Run("make", 2),
                Run("make", 2),
                Wait(60),
                Run("make", 2),
                Wait(60),
                Run("make", 2),
                Run("make", 2),
                Wait(60),
                Run("make", 2),
            ],
            &["HIGH build_broken_after_my_edit make"],
        ),
        (
            "a new test fails, as it is to",
            &[Edit("tests/cart.rs"), Tests("cargo test", &["cart::adds"])],
            &[],
        ),
        (
            "it had succeeded, and a new test fails",
            &[
                Tests("cargo test", &[]),
                Edit("tests/cart.rs"),
                Tests("cargo test", &["cart::adds"]),
            ],
            &[],
        ),
        (
            "tests and more were edited",
            &[
                Tests("cargo test", &[]),
                Edit("tests/cart.rs"),
                Edit("a.rs"),
                Tests("cargo test", &["adds"]),
            ],
            &["MEDIUM build_broken_after_my_edit cargo test"],
        ),
        (
            "a check of an edited test is not meant to fail",
            &[
                Run("cargo clippy --tests", 0),
                Edit("tests/cart.rs"),
                Run("cargo clippy --tests", 101),
            ],
            &["MEDIUM build_broken_after_my_edit cargo clippy --tests"],
        ),
        ("there is no such tool", &[Run("make", 0), Edit("src/cart.rs"), Run("make", 127)], &[]),
    ]);
}
