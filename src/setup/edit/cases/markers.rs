//! Our block in the instructions of a project.

use crate::setup::edit::markers::{self, MarkerError};

const BLOCK: &str = "<!-- tma1:start -->\nUse it.\n\nAlways.\n<!-- tma1:end -->";

fn install(before: &str) -> Result<String, MarkerError> {
    let after = markers::install_into(before.as_bytes(), "Use it.\n\nAlways.\n")?;
    Ok(String::from_utf8(after).unwrap())
}

fn remove(before: &str) -> Result<String, MarkerError> {
    let after = markers::remove_from(before.as_bytes())?;
    Ok(String::from_utf8(after).unwrap())
}

#[test]
fn a_block_is_appended_and_taken_out_again() {
    for (before, added) in [
        ("", format!("{BLOCK}\n")),
        ("\u{feff}", format!("{BLOCK}\n")),
        ("\n", format!("\n{BLOCK}\n")),
        ("# Rules\n", format!("\n{BLOCK}\n")),
        ("# Rules\n\n", format!("\n{BLOCK}\n")),
        ("# Rules", format!("\n\n{BLOCK}")),
        ("# Rules\n  ", format!("\n\n{BLOCK}")),
        ("a\r\nb\r\n", format!("\n{BLOCK}\n").replace('\n', "\r\n")),
        ("a\r\nb", format!("\n\n{BLOCK}").replace('\n', "\r\n")),
        ("a\r\nb\n", format!("\n{BLOCK}\n").replace('\n', "\r\n")),
        ("a\nb\r\n", format!("\n{BLOCK}\n")),
        ("a\nb\r", format!("\n\n{BLOCK}")),
        ("<!-- other:start -->\nx\n<!-- other:end -->", format!("\n\n{BLOCK}")),
        ("```\n<!-- tma1:start -->\n```\n", format!("\n{BLOCK}\n")),
        ("See `<!-- tma1:start -->` there.\n", format!("\n{BLOCK}\n")),
        ("x <!-- tma1:end -->\n", format!("\n{BLOCK}\n")),
        ("    <!-- tma1:start -->\n", format!("\n{BLOCK}\n")),
    ] {
        let after = install(before).unwrap();
        assert_eq!(after, format!("{before}{added}"));
        assert_eq!(install(&after).unwrap(), after);
        assert_eq!(remove(&after).unwrap(), before);
    }
}

#[test]
fn only_the_inside_of_a_block_is_replaced() {
    for (before, after) in [
        ("a\n<!-- tma1:start -->\nold\n<!-- tma1:end -->\nb".to_owned(), format!("a\n{BLOCK}\nb")),
        ("<!-- tma1:start -->\n<!-- tma1:end -->".to_owned(), BLOCK.to_owned()),
        // The block ends its lines otherwise than the rest.
        (
            "a\n\n<!-- tma1:start -->\r\n<!-- tma1:end -->\n".to_owned(),
            format!("a\n\n{}\n", BLOCK.replace('\n', "\r\n")),
        ),
        // Blanks around the markers; a fence that opens after the block.
        (
            "  <!-- tma1:start --> \n```\nold\n```\n\t <!-- tma1:end -->\n".replace('\t', " ")
                + "```\n",
            format!(
                "{}\n```\n",
                BLOCK
                    .replace("<!-- tma1:start -->", "  <!-- tma1:start --> ")
                    .replace("<!-- tma1:end -->", "  <!-- tma1:end -->")
            ),
        ),
    ] {
        assert_eq!(install(&before).unwrap(), after);
        assert_eq!(install(&after).unwrap(), after);
        assert_eq!(remove(&after), remove(&before));
    }
}

#[test]
fn what_follows_the_block_stays() {
    for (before, after) in [
        (format!("a\n\n{BLOCK}\nb\n"), "a\nb\n"),
        (format!("a\n\n{BLOCK}\n\n# b"), "a\n\n# b"),
        (format!("a\n{BLOCK}\nb"), "a\nb"),
        (format!("{BLOCK}\n\nb"), "\nb"),
        (BLOCK.to_owned(), ""),
        ("a\n".to_owned(), "a\n"),
        (String::new(), ""),
    ] {
        assert_eq!(remove(&before).unwrap(), after);
    }
}

#[test]
fn markers_that_do_not_make_one_block_are_refused_with_their_line() {
    let (start, end) = ("<!-- tma1:start -->\n", "<!-- tma1:end -->\n");
    for (before, message) in [
        (
            format!("a\n{start}b\n"),
            "`<!-- tma1:start -->` stands there without its other half (line 2)",
        ),
        (format!("{end}b\n"), "`<!-- tma1:end -->` stands there without its other half (line 1)"),
        (
            format!("a\n{end}{start}"),
            "`<!-- tma1:end -->` stands before `<!-- tma1:start -->` (line 2)",
        ),
        (
            format!("{start}{start}{end}{end}"),
            "`<!-- tma1:start -->` stands there a second time before `<!-- tma1:end -->` (line 2)",
        ),
        (
            format!("{start}{end}\n{start}{end}"),
            "a second `<!-- tma1:start -->` stands after the block (line 4)",
        ),
        (
            format!("{start}{end}{end}"),
            "a second `<!-- tma1:end -->` stands after the block (line 3)",
        ),
        // The end is code.
        (
            format!("{start}```\n{end}"),
            "`<!-- tma1:start -->` stands there without its other half (line 1)",
        ),
    ] {
        let error = install(&before).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(remove(&before), Err(error));
    }
    let error = markers::install_into(b"a\n\xff", "x").unwrap_err();
    assert_eq!(error.to_string(), "it is not UTF-8 text (line 2, column 1)");
}

#[test]
fn a_block_is_not_appended_to_somebodys_code() {
    for (line, before) in [
        (1, "```"),
        (2, "a\n   ~~~~ sh\nb\n~~~\n"),
        // An info string with a backtick opens nothing.
        (2, "```` `\n```\n~~~\n"),
        (3, "```\n```\n``` x ~\n    ```\n"),
        (1, "~~~ `\n```\n"),
        (1, "a\r```\rb"),
        (3, "- ```\n  a\n```\n"),
    ] {
        assert_eq!(install(before), Err(MarkerError::OpenFence { line }), "{before}");
        assert_eq!(remove(before).unwrap(), before);
    }
}

#[test]
fn a_closed_fence_is_closed() {
    for before in [
        "```\n```",
        "```\n   ````  \t\n",
        "~~~ a ~ `b`\n```\n~~~\n",
        "``` a`b\n",
        "    ```\n",
        "\t```\n",
        "``\n",
        "> ```\n> a\n> ```\n",
        "> ```\nthe quote has ended\n",
        "- ```\n  a\n  ```\n",
        "10) ```\n    a\n    ```\n",
        "* ```\nthe item has ended\n",
        // What is appended ends these.
        "> ```\n> a",
        "- ```\n  a\n",
        "1. - ~~~\n\n     a\n",
        "* * *\n",
        "- [ ] ```inline``` code\n",
    ] {
        let after = install(before).unwrap();
        assert_eq!(remove(&after).unwrap(), before);
    }
}

#[test]
fn a_text_that_would_break_its_own_block_is_not_written() {
    for text in ["```", "<!-- tma1:end -->", "a\n<!-- tma1:start -->\nb"] {
        assert_eq!(markers::install_into(b"", text), Err(MarkerError::Guard));
    }
    assert!(markers::install_into(b"", "").is_ok());
}
