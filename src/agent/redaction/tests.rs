use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::agent::Payload;

/// Made once: it takes longer than what is asked of it.
fn redaction() -> &'static Redaction {
    static REDACTION: LazyLock<Redaction> = LazyLock::new(|| Redaction::new().unwrap());
    &REDACTION
}

/// Made here, so that no scanner takes this file for a leak.
fn letters(length: usize) -> String {
    "aB3dE5gH7jK9mN2pQ4sT6vW8xY1z".chars().cycle().take(length).collect()
}

fn hex(length: usize) -> String {
    "0a1b2c3d4e5f6789".chars().cycle().take(length).collect()
}

fn capitals(length: usize) -> String {
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ".chars().cycle().take(length).collect()
}

fn digits(length: usize) -> String {
    "1234567890".chars().cycle().take(length).collect()
}

/// A secret of each shape that tells whose it is.
fn shapes() -> Vec<(&'static str, String)> {
    vec![
        ("age-key", format!("AGE-SECRET-KEY-1{}", capitals(58))),
        ("anthropic-key", format!("sk-ant-{}-{}", "api03", letters(80))),
        ("openrouter-key", format!("sk-or-v1-{}", hex(64))),
        ("openai-key", format!("sk-proj-{}", letters(48))),
        ("openai-key", format!("sk-{}", letters(48))),
        ("aws-access-key", format!("AKIA{}", capitals(16))),
        ("github-token", format!("ghp_{}", letters(36))),
        ("github-token", format!("github_pat_{}", letters(82))),
        ("gitlab-token", format!("glpat-{}", letters(20))),
        ("slack-token", format!("xoxb-{}-{}", digits(12), letters(24))),
        ("google-key", format!("AIza{}", letters(35))),
        ("google-token", format!("ya29.{}", letters(60))),
        ("stripe-key", format!("sk_live_{}", letters(24))),
        ("stripe-key", format!("whsec_{}", letters(32))),
        ("npm-token", format!("npm_{}", letters(36))),
        ("pypi-token", format!("pypi-{}", letters(90))),
        ("crates-io-token", format!("cio{}", letters(32))),
        ("rubygems-key", format!("rubygems_{}", hex(48))),
        ("docker-token", format!("dckr_pat_{}", letters(27))),
        ("hugging-face-token", format!("hf_{}", letters(34))),
        ("groq-key", format!("gsk_{}", letters(52))),
        ("xai-key", format!("xai-{}", letters(80))),
        ("perplexity-key", format!("pplx-{}", letters(48))),
        ("replicate-token", format!("r8_{}", letters(37))),
        ("sendgrid-key", format!("SG.{}.{}", letters(22), letters(43))),
        ("twilio-key", format!("SK{}", hex(32))),
        ("mailgun-key", format!("key-{}", hex(32))),
        ("telegram-token", format!("{}:AA{}", digits(10), letters(33))),
        ("digitalocean-token", format!("dop_v1_{}", hex(64))),
        ("databricks-token", format!("dapi{}", hex(32))),
        ("shopify-token", format!("shpat_{}", hex(32))),
        ("linear-key", format!("lin_api_{}", letters(40))),
        ("notion-token", format!("ntn_{}", letters(46))),
        ("figma-token", format!("figd_{}", letters(43))),
        ("supabase-token", format!("sbp_{}", hex(40))),
        ("planetscale-token", format!("pscale_tkn_{}", letters(43))),
        ("doppler-token", format!("dp.st.dev.{}", letters(43))),
        ("vault-token", format!("hvs.{}", letters(90))),
        ("terraform-token", format!("{}.atlasv1.{}", letters(14), letters(67))),
        ("grafana-token", format!("glsa_{}_{}", letters(32), hex(8))),
        ("sentry-token", format!("sntrys_{}", letters(60))),
        ("new-relic-key", format!("NRAK-{}", capitals(27))),
        ("atlassian-token", format!("ATATT3{}", letters(180))),
        ("tailscale-key", format!("tskey-auth-{}", letters(30))),
        ("1password-token", format!("ops_eyJ{}", letters(200))),
        ("jwt", format!("eyJ{}.eyJ{}.{}", letters(20), letters(40), letters(43))),
    ]
}

#[test]
fn every_pattern_is_one_and_has_its_hint_in_lower_case() {
    for compiled in &redaction().rules {
        let Rule { name, hints, .. } = compiled.rule;
        assert!(compiled.regex().is_some(), "{name}");
        assert!(hints.iter().all(|hint| *hint == hint.to_ascii_lowercase()), "{name}");
    }
}

#[test]
fn what_a_provider_issues_is_known_by_its_shape_wherever_it_stands() {
    let redaction = redaction();
    let named: BTreeSet<_> = shapes().iter().map(|(name, _)| *name).collect();
    for (name, secret) in shapes() {
        let mark = format!("[REDACTED:{name}]");
        for (before, after) in [
            ("", ""),
            ("my key is ", ", keep it"),
            ("KEY='", "'"),
            ("\u{e9}(", ")\n"),
            ("\"", "\\n\""),
        ] {
            let redacted = redaction.text(&format!("{before}{secret}{after}")).into_owned();
            assert_eq!(redacted, format!("{before}{mark}{after}"), "{name}");
        }
    }
    // A shape that is added has to be shown here.
    let missing: Vec<_> = (RULES.iter())
        .filter(|rule| rule.proof == Proof::Shape && !rule.pattern.contains("(?P<s>"))
        .filter(|rule| !named.contains(rule.name))
        .map(|rule| rule.name)
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn what_stands_where_secrets_stand_is_one() {
    let redaction = redaction();
    let token = letters(30);
    for (name, text, secret) in [
        ("authorization", "curl -H 'Authorization: Bearer @' x", "abc.def-123"),
        ("authorization", "Authorization: Basic @", "dXNlcjpwYXNz"),
        ("authorization", r#"{"authorization": "token @"}"#, "abcdefgh12"),
        ("authorization", r#"{\"Authorization\": \"Bearer @\"}"#, "abcdefgh12"),
        ("bearer-token", "got bearer @ back", &token),
        ("api-key-header", "-H \"x-api-key: @\"", "k-12345678"),
        ("api-key-header", "PRIVATE-TOKEN: @", "abcdefgh1"),
        ("cookie", "Cookie: @", "session=abcdef123456; theme=dark"),
        ("cookie", "< Set-Cookie: @", "sid=s%3Aabcdefgh; Path=/; HttpOnly"),
        ("url-password", "psql postgres://dev:@@db.local:5432/shop", "hunter2"),
        ("url-password", "git clone https://x-access-token:@@github.com/a/b", "v1.abcdef"),
        ("url-password", "REDIS=redis://:@@cache/0", "pa55-word"),
        ("url-token", "GET /api?user=7&access_token=@&page=2", "abcdef1234"),
        ("url-token", "https://maps.test/js?key=@", &token),
        ("url-token", "https://s3.test/f?X-Amz-Signature=@", &token),
        ("password", "mysql -u root -p@ shop", "hunter2"),
        ("password", "mysqldump --single-transaction -u root -p'@' shop", "hun ter"),
        ("password", "tool login --password @ --user dev", "hunter2"),
        ("password", "tool login --password=@", "hunter2"),
        ("password", "tool login --password \"@\"", "correct horse"),
        ("password", "vault login -token=@", "root-token"),
        ("password", "gh auth login --with-token @", "abcdef"),
        ("password", r#"["tool", "--api-key", "@"]"#, "abcdef"),
        ("password", "curl -u dev:@ https://x.test", "hunter2"),
        ("password", "curl -s --user 'dev:@' https://x.test", "hunter2"),
        ("password", "sshpass -p @ ssh host", "hunter2"),
        ("password", "docker login -u dev -p @ registry.test", "hunter2"),
        ("password", "redis-cli -h cache -a @ ping", "hunter2"),
        ("password", "openssl rsa -in k.pem -passin pass:@", "hunter2"),
        ("password", "CREATE USER dev IDENTIFIED BY '@';", "hunter2"),
        ("password", "machine x.test login dev password @\n", "hunter2"),
        ("environment", "PGPASSWORD=@ psql", "hunter2"),
        ("environment", "export DB_PASSWORD='@'", "correct horse"),
        ("environment", "AWS_SECRET_ACCESS_KEY=@", &token),
        ("environment", "     3\u{2192}SESSION_SECRET=@\n", "hunter2"),
        ("environment", "docker run -e API_KEY=@ img", "abc123"),
        ("secret", r#""password": "@","#, "hunter2"),
        ("secret", r#"{\"client_secret\": \"@\"}"#, "hunter2"),
        ("secret", "password = '@'", "hunter2"),
        ("secret", "const apiKey = \"@\";", "abc123def"),
        ("secret", ":secret_key => \"@\"", "abc123def"),
        ("secret", "db:\n  password: @\n  user: dev", "hunter2"),
        ("secret", "aws_secret_access_key = @", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzz1"),
        ("secret", "//registry.test/:_authToken=@", "0b1c2d3e-4f5a"),
        ("azure-key", "AccountName=x;AccountKey=@;Endpoint", &letters(86)),
        (
            "slack-webhook",
            "https://hooks.slack.com/services/@",
            &format!("T{}/B{}/{}", digits(9), digits(9), letters(24)),
        ),
        ("discord-webhook", "https://discord.com/api/webhooks/1234567890123/@", &letters(60)),
    ] {
        let (before, after) = text.split_once('@').unwrap();
        let expected = format!("{before}[REDACTED:{name}]{after}");
        assert_eq!(redaction.text(&format!("{before}{secret}{after}")), expected);
    }
}

#[test]
fn a_private_key_goes_however_it_is_written() {
    let redaction = redaction();
    let lines: Vec<_> = (0..5).map(|_| letters(64)).collect();
    for (text, expected) in [
        (
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\nrest",
                lines.join("\n")
            ),
            "rest",
        ),
        (
            format!(
                "-----BEGIN PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----\\nrest",
                lines.join("\\n")
            ),
            "\\nrest",
        ),
        (
            format!(
                "     1\u{2192}-----BEGIN OPENSSH PRIVATE KEY-----\n     2\u{2192}{}\n     3\u{2192}-----END OPENSSH PRIVATE KEY-----\nrest",
                lines.join("\n")
            ),
            "rest",
        ),
        (
            format!(
                "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,{}\n\n{}\n-----END EC PRIVATE KEY-----\nrest",
                hex(32),
                lines.join("\n")
            ),
            "rest",
        ),
        (
            format!(
                "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----\nrest",
                lines.join("\n")
            ),
            "rest",
        ),
        (format!("-----BEGIN PRIVATE KEY-----\n{}\n[9000 bytes", lines.join("\n")), "[9000 bytes"),
    ] {
        let redacted = redaction.text(&text);
        assert!(redacted.contains("[REDACTED:private-key]"), "{redacted}");
        assert!(redacted.ends_with(expected), "{redacted}");
        assert!(!lines.iter().any(|line| redacted.contains(&line[..20])), "{redacted}");
    }
}

#[test]
fn what_only_looks_near_stays() {
    let redaction = redaction();
    for text in [
        // Shapes that are too short, or names that begin like one.
        "sk-fading-circle-container-with-a-long-name",
        "ghp_short",
        "AKIA1234",
        "npm_config_registry=https://registry.test",
        "hf_hub_download(repo)",
        "import sk_learn_something",
        "glpat",
        "xoxo-xoxo",
        "eyJhbGciOi is how they begin",
        "commit 0a1b2c3d4e5f67890a1b2c3d4e5f67890a1b2c3d",
        "uuid 0b1c2d3e-4f5a-6b7c-8d9e-0f1a2b3c4d5e",
        "sha512-aB3dE5gH7jK9mN2pQ4sT6vW8xY1zaB3dE5gH7jK9mN2pQ4sT6vW8xY1zaB3dE5gH7jK9mN2pQ4sT6vW8xY1zQ==",
        // Where a secret comes from, or how to write one.
        "PASSWORD=$DB_PASSWORD psql",
        "export TOKEN=${TOKEN}",
        "TOKEN=$(gh auth token)",
        "PASSWORD=%PW% x",
        "API_KEY=<your key>",
        "API_KEY=your-api-key",
        "API_KEY=YOUR_API_KEY",
        "password: ********",
        "password = os.environ['PW1']",
        "apiKey: process.env.API_KEY1,",
        "--token $GITHUB_TOKEN",
        "--password-stdin < file",
        "--token-file ./t1.txt",
        "docker build --secret id=npm1,src=.npmrc .",
        "Authorization: Bearer $TOKEN",
        "postgres://user:password@host/db",
        "postgres://dev:$PW@host/db",
        "postgres://dev:${PW}@host/db",
        "curl -u $USER:$PASSWORD x",
        "mysql -u root -p shop",
        // Code and prose.
        "let token = parser.next_token();",
        "password: string;",
        "\"password\": \"Password\",",
        "password: z.string().min(8)",
        "type Secret = { password: string }",
        "credentials: 'same-origin'",
        "const secret = await getSecret('db1')",
        "<input type=\"password\" name=\"password\">",
        "fn password(&self) -> &str",
        "if password == expected {",
        "token=IDENT",
        "max_tokens=4096",
        "the password is wrong",
        "assert_eq!(token.kind, Kind::Number);",
        "KEYBOARD=qwerty-us",
        "PWD=/home/dev/shop",
        "OLDPWD=/home/dev/shop",
        "SSH_KEY=~/.ssh/id_ed25519",
        "PASSWORD=",
        "TOKENIZERS_PARALLELISM=false",
        "git@github.com:dev/shop.git",
        "ssh://git@github.com/dev/shop",
        "http://localhost:3000/@vite/client",
        "https://x.test/?page=2&sort=name",
        "?code=404",
        "-----BEGIN CERTIFICATE-----",
        "if text.contains(\"-----BEGIN PRIVATE KEY-----\") {",
        "cookie: true",
        "basic auth",
        "bearer of news",
    ] {
        assert_eq!(redaction.text(text), text);
    }
}

#[test]
fn members_that_hold_a_secret_lose_it_and_names_keep_theirs() {
    let token = format!("ghp_{}", letters(36));
    let sent = json!({
        "hook_event_name": "PreToolUse", "session_id": token, "cwd": format!("/home/{token}"),
        "tool_name": "mcp__db__connect",
        "tool_input": {
            "Password": "sesame", "user": "dev", "port": 5432, "password": {"min": 8},
            "headers": {"authorization": "sesame"}, "args": ["-x", token],
            "file_path": format!("/home/dev/{token}"), "api_key": "$API_KEY",
        },
        "prompt": format!("use {token}"),
    });
    let redacted = Payload::read_redacted(sent.to_string().as_bytes(), redaction()).unwrap();
    let mark = "[REDACTED:github-token]";
    let expected = json!({
        "hook_event_name": "PreToolUse", "session_id": token, "cwd": format!("/home/{token}"),
        "tool_name": "mcp__db__connect",
        "tool_input": {
            "Password": "[REDACTED:secret]", "user": "dev", "port": 5432, "password": {"min": 8},
            "headers": {"authorization": "[REDACTED:secret]"}, "args": ["-x", mark],
            "file_path": format!("/home/dev/{token}"), "api_key": "$API_KEY",
        },
        "prompt": format!("use {mark}"),
    });
    assert_eq!(redacted, Payload::read(expected.to_string().as_bytes()).unwrap());
}

#[test]
fn a_secret_on_the_edge_of_what_is_cut_is_gone_whole() {
    let secret = format!("ghp_{}", letters(36));
    for before in (32_700..32_800).step_by(7) {
        let text = format!("{} {secret} {}", "x".repeat(before), "y".repeat(40_000));
        let sent = json!({"hook_event_name": "Stop", "session_id": "s", "text": text}).to_string();
        let redacted = Payload::read_redacted(sent.as_bytes(), redaction()).unwrap();
        assert!(!redacted.text("text").contains("ghp_"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn what_was_redacted_stays_as_it_is_and_the_rest_too(
        parts in prop::collection::vec(
            prop_oneof![
                "[ -~é世\n\t]{0,30}".prop_map(|text| (text, false)),
                prop::sample::select(shapes()).prop_map(|(_, secret)| (secret, true)),
                prop::sample::select(vec![
                    "PASSWORD=", "password: '", "https://a:b@", "Authorization: Bearer ", "--token ",
                    "-----BEGIN PRIVATE KEY-----", "'", "\"", "@", "=", "\\n", "?key=", "curl -u a:",
                ]).prop_map(|text| (text.to_owned(), false)),
            ],
            0..12,
        ),
    ) {
        let text: Vec<_> = parts.iter().map(|(text, _)| text.as_str()).collect();
        let text = text.join(" ");
        let redaction = redaction();
        let once = redaction.text(&text).into_owned();
        for (secret, _) in parts.iter().filter(|(_, secret)| *secret) {
            prop_assert!(!once.contains(secret.as_str()), "{} in {}", secret, once);
        }
        let twice = redaction.text(&once).into_owned();
        prop_assert_eq!(&twice, &once);
        if !once.contains("[REDACTED:") {
            prop_assert_eq!(once, text);
        }
    }
}
