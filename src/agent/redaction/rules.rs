//! What secrets look like: one row a shape, each by the documentation of whoever issues it.

/// One shape of secrets.
#[derive(Debug)]
pub(super) struct Rule {
    /// What stands in the mark that replaces it, `[REDACTED:name]`.
    pub name: &'static str,
    /// One of these is in every text that the pattern matches, in whatever case: what has none of them
    /// is not searched for it.
    pub hints: Hints,
    /// Matches the secret with what tells that it is one. The group `s` is the secret alone; without
    /// that group it is the whole match.
    pub pattern: &'static str,
    /// What has to be said of the secret itself.
    pub proof: Proof,
}

type Hints = &'static [&'static str];

/// How it is known that something is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// By its shape alone.
    Shape,
    /// By its place, unless it is what stands there in an example, or where the secret comes from.
    Place,
    /// By its place in a text that may be a program, if it also looks like one.
    Look,
}

/// A shape that its issuer has chosen so that it is known.
const fn shape(name: &'static str, hints: Hints, pattern: &'static str) -> Rule {
    Rule { name, hints, pattern, proof: Proof::Shape }
}

/// A place where people write secrets.
const fn place(name: &'static str, hints: Hints, pattern: &'static str) -> Rule {
    Rule { name, hints, pattern, proof: Proof::Place }
}

/// A name beside which there may be a secret.
const fn named(name: &'static str, hints: Hints, pattern: &'static str) -> Rule {
    Rule { name, hints, pattern, proof: Proof::Look }
}

/// In the order in which they are applied: a shape that tells whose key it is comes before one that
/// tells only where a secret stands.
pub(super) const RULES: &[Rule] = &[
    // Private keys; also as numbered lines, as strings of a program and with escaped line ends.
    shape(
        "private-key",
        &["private key"],
        r#"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<s>[A-Za-z0-9+/=\s\\:,."'→-]{40,}?)-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"#,
    ),
    // The end may have been cut off.
    shape(
        "private-key",
        &["private key"],
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?P<s>(?:\s|\\[nrt]|[A-Za-z0-9+/=→]){40,})",
    ),
    shape("age-key", &["age-secret-key-"], r"(?-u:\b)AGE-SECRET-KEY-1[A-Z0-9]{58}(?-u:\b)"),
    // Keys of providers, which begin with a word of theirs.
    shape("anthropic-key", &["sk-ant-"], r"(?-u:\b)sk-ant-[A-Za-z0-9_-]{20,}"),
    shape("openrouter-key", &["sk-or-v1-"], r"(?-u:\b)sk-or-v1-[A-Za-z0-9]{32,}"),
    shape(
        "openai-key",
        &["sk-"],
        r"(?-u:\b)(?:sk-(?:proj|svcacct|admin|service)-[A-Za-z0-9_-]{32,}|sk-[A-Za-z0-9]{32,}|sk-[A-Za-z0-9]{16,}T3BlbkFJ[A-Za-z0-9]{16,})",
    ),
    shape(
        "aws-access-key",
        &["akia", "asia", "abia", "acca"],
        r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?-u:\b)",
    ),
    shape(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{36,255})",
    ),
    shape(
        "gitlab-token",
        &[
            "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glft-", "glimt-",
            "glagent-", "gloas-",
        ],
        r"(?-u:\b)gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{20,}",
    ),
    shape(
        "slack-token",
        &["xox", "xapp-"],
        r"(?-u:\b)(?:xox[abeoprs]-[A-Za-z0-9-]{20,}|xapp-[0-9]-[A-Za-z0-9-]{20,})",
    ),
    shape(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9/_-]{30,})",
    ),
    shape(
        "discord-webhook",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/[0-9]{10,}/(?P<s>[A-Za-z0-9_-]{40,})",
    ),
    shape(
        "google-key",
        &["aiza", "gocspx-"],
        r"(?-u:\b)(?:AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28})",
    ),
    shape("google-token", &["ya29."], r"(?-u:\b)ya29\.[A-Za-z0-9_-]{20,}"),
    shape(
        "stripe-key",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        r"(?-u:\b)(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    shape("npm-token", &["npm_"], r"(?-u:\b)npm_[A-Za-z0-9]{36}(?-u:\b)"),
    shape("pypi-token", &["pypi-"], r"(?-u:\b)pypi-[A-Za-z0-9_-]{60,}"),
    shape("crates-io-token", &["cio"], r"(?-u:\b)cio[A-Za-z0-9]{32}(?-u:\b)"),
    shape("rubygems-key", &["rubygems_"], r"(?-u:\b)rubygems_[a-f0-9]{48}(?-u:\b)"),
    shape("docker-token", &["dckr_"], r"(?-u:\b)dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    shape("hugging-face-token", &["hf_"], r"(?-u:\b)hf_[A-Za-z0-9]{30,}(?-u:\b)"),
    shape("groq-key", &["gsk_"], r"(?-u:\b)gsk_[A-Za-z0-9]{40,}(?-u:\b)"),
    shape("xai-key", &["xai-"], r"(?-u:\b)xai-[A-Za-z0-9]{60,}(?-u:\b)"),
    shape("perplexity-key", &["pplx-"], r"(?-u:\b)pplx-[A-Za-z0-9]{40,}(?-u:\b)"),
    shape("replicate-token", &["r8_"], r"(?-u:\b)r8_[A-Za-z0-9]{37}(?-u:\b)"),
    shape("sendgrid-key", &["sg."], r"(?-u:\b)SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,46}"),
    shape("twilio-key", &["sk"], r"(?-u:\b)SK[0-9a-f]{32}(?-u:\b)"),
    shape("mailgun-key", &["key-"], r"(?-u:\b)key-[0-9a-f]{32}(?-u:\b)"),
    shape("telegram-token", &[":aa"], r"(?-u:\b)[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?-u:\b)"),
    shape("digitalocean-token", &["_v1_"], r"(?-u:\b)do[opr]_v1_[a-f0-9]{64}(?-u:\b)"),
    shape("databricks-token", &["dapi"], r"(?-u:\b)dapi[0-9a-f]{32}(?-u:\b)"),
    shape(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"(?-u:\b)shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}(?-u:\b)",
    ),
    shape("linear-key", &["lin_"], r"(?-u:\b)lin_(?:api|oauth)_[A-Za-z0-9]{40,}"),
    shape("notion-token", &["ntn_"], r"(?-u:\b)ntn_[A-Za-z0-9]{40,}"),
    shape(
        "figma-token",
        &["figd_", "figu_", "figo_", "figr_", "figuh_", "figor_", "figdh_", "figoh_"],
        r"(?-u:\b)fig(?:d|u|o|r|uh|or|dh|oh)_[A-Za-z0-9_-]{40,}",
    ),
    shape(
        "supabase-token",
        &["sbp_", "sb_secret_"],
        r"(?-u:\b)(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})",
    ),
    shape(
        "planetscale-token",
        &["pscale_"],
        r"(?-u:\b)pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}",
    ),
    shape(
        "doppler-token",
        &["dp."],
        r"(?-u:\b)dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}",
    ),
    shape("vault-token", &["hvs.", "hvb.", "hvr."], r"(?-u:\b)hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    shape(
        "terraform-token",
        &[".atlasv1."],
        r"(?-u:\b)[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}",
    ),
    shape(
        "grafana-token",
        &["glsa_", "glc_"],
        r"(?-u:\b)gl(?:sa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|c_[A-Za-z0-9+/=]{32,})",
    ),
    shape("sentry-token", &["sntrys_", "sntryu_"], r"(?-u:\b)sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    shape("new-relic-key", &["nrak-"], r"(?-u:\b)NRAK-[A-Z0-9]{27}(?-u:\b)"),
    shape(
        "atlassian-token",
        &["atatt", "atctt", "atbb"],
        r"(?-u:\b)AT(?:ATT|CTT|BB)[A-Za-z0-9_=-]{40,}",
    ),
    shape("tailscale-key", &["tskey-"], r"(?-u:\b)tskey-[a-z]+-[A-Za-z0-9-]{16,}"),
    shape("1password-token", &["ops_eyj"], r"(?-u:\b)ops_eyJ[A-Za-z0-9_=-]{40,}"),
    shape(
        "azure-key",
        &["accountkey=", "sharedaccesskey="],
        r"(?:AccountKey|SharedAccessKey)=(?P<s>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    shape(
        "jwt",
        &["eyj"],
        r"(?-u:\b)eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    // Headers.
    place(
        "authorization",
        &["authorization"],
        r#"(?i)(?-u:\b)(?:proxy-)?authorization\\?["']?\s*[:=,]\s*\\?["'`]?(?:bearer|basic|token|digest|apikey|bot)\s+(?P<s>[A-Za-z0-9._~+/=:-]{8,})"#,
    ),
    place("bearer-token", &["bearer"], r"(?i)(?-u:\b)bearer\s+(?P<s>[A-Za-z0-9._~+/=-]{20,})"),
    place(
        "api-key-header",
        &["x-", "private-token", "api-key"],
        r#"(?i)(?-u:\b)(?:x-(?:api|auth|goog-api|vault|gitlab|amz-security|functions)-?(?:key|token)|private-token|api-key)\\?["']?\s*[:=]\s*\\?["'`]?(?P<s>[A-Za-z0-9._~+/=-]{8,})"#,
    ),
    place(
        "cookie",
        &["cookie"],
        r#"(?i)(?-u:\b)(?:set-)?cookie\s*:\s*(?P<s>[A-Za-z0-9_.-]{1,80}=[^\r\n"'`\\]{8,})"#,
    ),
    // URLs.
    place(
        "url-password",
        &["://"],
        r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'`<>|]{0,200}:(?P<s>[^\s/@"'`<>|]{3,200})@"#,
    ),
    place(
        "url-token",
        &["key=", "token=", "secret=", "signature=", "sas=", "password="],
        r#"(?i)[?&#](?:access_token|refresh_token|id_token|auth_token|api_?key|client_secret|x-amz-signature|x-amz-security-token|x-goog-signature|private_token|sas|token|secret|password)=(?P<s>[^&\s"'`<>#\\]{8,})"#,
    ),
    place(
        "url-token",
        &["key=", "sig=", "signature=", "code="],
        r#"(?i)[?&](?:key|sig|signature|code)=(?P<s>[^&\s"'`<>#\\]{20,})"#,
    ),
    // Passwords in commands.
    place(
        "password",
        &["password", "passwd", "passphrase", "pass", "secret", "token", "key"],
        r#"(?i)(?:^|[\s"'`(\[,])--?(?:[a-z0-9]+-)*(?:password|passwd|passphrase|pass|secret|token|api-?key|access-?key|secret-?key)(?:=|\s+|\\?["'],\s*\\?["'])(?P<s>"[^"\r\n]{3,}"|'[^'\r\n]{3,}'|[^\s"'`\\|;&<>()-][^\s"'`\\|;&<>()]{2,})"#,
    ),
    place(
        "password",
        &["mysql", "mariadb", "mongo"],
        r#"(?-u:\b)(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|mongosh?|mongodump)(?:[ \t][^\n;|&]*?)?[ \t]-p(?P<s>"[^"\r\n]{2,}"|'[^'\r\n]{2,}'|[^\s"'`\\|;&<>=-][^\s"'`\\|;&<>]{2,})"#,
    ),
    place(
        "password",
        &["sshpass", "login"],
        r#"(?-u:\b)(?:sshpass|docker[ \t]+login|podman[ \t]+login|helm[ \t]+registry[ \t]+login|az[ \t]+login)(?:[ \t][^\n;|&]*?)?[ \t]-p[ \t]*(?P<s>"[^"\r\n]{2,}"|'[^'\r\n]{2,}'|[^\s"'`\\|;&<>-][^\s"'`\\|;&<>]{2,})"#,
    ),
    place(
        "password",
        &["curl", "wget", "http", "xh"],
        r#"(?-u:\b)(?:curl|wget|http|https|xh)(?:[ \t][^\n;|&]*?)?[ \t](?:-u|--user|--proxy-user|-U|-a)[ \t=]*["']?[^\s:"'`]{1,100}:(?P<s>[^\s"'`\\|;&<>]{3,})"#,
    ),
    place(
        "password",
        &["redis-cli"],
        r#"(?-u:\b)redis-cli(?:[ \t][^\n;|&]*?)?[ \t]-a[ \t]+["']?(?P<s>[^\s"'`\\|;&<>]{3,})"#,
    ),
    place("password", &["pass:"], r#"-pass(?:in|out)?[ \t]+pass:(?P<s>[^\s"'`\\|;&<>]{2,})"#),
    place(
        "password",
        &["identified"],
        r"(?i)(?-u:\b)identified[ \t]+by[ \t]+'(?P<s>[^'\r\n]{3,})'",
    ),
    place("password", &["login"], r"(?i)(?-u:\b)login\s+\S{1,100}\s+password\s+(?P<s>\S{3,})"),
    // Variables of the environment, in a shell and in a `.env` file.
    place(
        "environment",
        &[
            "pass=",
            "pwd=",
            "password=",
            "passwd=",
            "passphrase=",
            "secret=",
            "token=",
            "key=",
            "credential=",
            "credentials=",
            "key_base=",
        ],
        r#"(?-u:\b)(?:(?:[A-Z0-9]+_)*(?:PASS|PWD)|[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_KEY|SECRET_KEY|PRIVATE_KEY|ENCRYPTION_KEY|SIGNING_KEY|AUTH_KEY|CREDENTIALS?|KEY_BASE))=(?P<s>"[^"\r\n]{4,}"|'[^'\r\n]{4,}'|[^\s"'`\\|;&<>()\[\]{},]{4,})"#,
    ),
    // Members of JSON, YAML and programs whose name says what they hold and whose value is quoted.
    named(
        "secret",
        &["passw", "passphrase", "secret", "key", "token", "credential", "_auth"],
        r#"(?i)(?:password|passwd|passphrase|secret|api_?-?key|access_?-?key|secret_?-?key|private_?-?key|auth_?-?token|access_?-?token|refresh_?-?token|client_?-?secret|credentials?)\\?["']?\s*(?::|=|=>|:=)\s*(?:\\?")(?P<s>[^"\s\\]{6,200})\\?""#,
    ),
    named(
        "secret",
        &["passw", "passphrase", "secret", "key", "token", "credential", "_auth"],
        r"(?i)(?:password|passwd|passphrase|secret|api_?-?key|access_?-?key|secret_?-?key|private_?-?key|auth_?-?token|access_?-?token|refresh_?-?token|client_?-?secret|credentials?)'?\s*(?::|=|=>|:=)\s*'(?P<s>[^'\s\\]{6,200})'",
    ),
    // The same unquoted, alone on its line: YAML, INI, properties.
    named(
        "secret",
        &["passw", "passphrase", "secret", "key", "token", "credential", "_auth"],
        r#"(?im)^[ \t]*(?:[0-9]+[→\t])?[ \t]*[a-z0-9_./:-]*(?:password|passwd|passphrase|secret|api_?-?key|access_?-?key|secret_?-?key|auth_?-?token|access_?-?token|_auth)[ \t]*[:=][ \t]*(?P<s>[^\s"'`#<>(){}\[\],;]{6,200})[ \t]*\r?$"#,
    ),
];
