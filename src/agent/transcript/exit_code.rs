//! How a command ended, in what Codex tells the model of it.

use serde::Deserialize;

/// The older form.
#[derive(Deserialize)]
struct Output {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    exit_code: i64,
}

/// The exit status in the output of a call, if that is a command which has ended.
pub(super) fn exit_code(output: &str) -> Option<i64> {
    if output.starts_with('{') {
        return serde_json::from_str::<Output>(output).ok().map(|output| output.metadata.exit_code);
    }
    // What the command itself has written comes after this line.
    output.lines().take_while(|line| *line != "Output:").take(8).find_map(|line| {
        let code =
            line.strip_prefix("Process exited with code ").or(line.strip_prefix("Exit code: "));
        code?.trim().parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_is_in_the_head_of_the_output() {
        for (output, code) in [
            (
                "Chunk ID: 2b\nWall time: 0.0 seconds\nProcess exited with code 1\nOutput:\n",
                Some(1),
            ),
            ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 7\n", Some(0)),
            ("Exit code: -1\nWall time: 0 seconds\nTotal output lines: 5\nOutput:\n", Some(-1)),
            (r#"{"output":"x","metadata":{"exit_code":127,"duration_seconds":0.1}}"#, Some(127)),
            (r#"{"output":"Exit code: 1","metadata":{}}"#, None),
            (r#"{"agent_id":"a"}"#, None),
            ("Wall time: 0.3 seconds\nProcess running with session ID 26384\nOutput:\n", None),
            ("Wall time: 0 seconds\nOutput:\nProcess exited with code 1\n", None),
            ("unsupported call: shell", None),
            ("Exit code: one", None),
            ("", None),
        ] {
            assert_eq!(exit_code(output), code, "{output}");
        }
    }
}
