//! Whether words have a secret in them, by how secrets look. It errs towards yes: a person can still write the file.

/// What keys of well-known services begin with.
const BEGINNINGS: [&str; 22] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "hf_",
    "SG.",
];
/// Letters that such a key has at least.
const KEY: usize = 16;
/// Letters of a word that a machine made, at least.
const RANDOM: usize = 24;
/// Names of what is kept secret.
const NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "access_key",
    "credential",
];

/// What was found, in words.
pub(super) fn found(text: &str) -> Option<&'static str> {
    if text.contains("-----BEGIN") {
        return Some("a key");
    }
    let parts = |letter: char| {
        letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '<' | '>')
    };
    for word in text.split(parts).filter(|word| !word.is_empty()) {
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        let value = word.rsplit_once('=').map_or(word, |(_, value)| value);
        if value.len() >= KEY && BEGINNINGS.iter().any(|begin| value.starts_with(begin)) {
            return Some("a key of a service");
        }
        if value.starts_with("eyJ") && value.matches('.').count() == 2 {
            return Some("a token");
        }
        let after = word.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
        if after.is_some_and(|(who, _)| who.contains(':') && !who.contains('/')) {
            return Some("an address with a password");
        }
        if looks_random(value) {
            return Some("something that looks like a key");
        }
    }
    named(text).then_some("a password or a key")
}

/// Letters and digits mixed as no person writes them.
fn looks_random(word: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '+' | '/' | '=');
    if word.len() < RANDOM || !word.chars().all(fits) || word.matches('/').count() > 2 {
        return false;
    }
    let digits = word.chars().filter(char::is_ascii_digit).count();
    if word.len() >= 32 && digits >= 6 && word.chars().all(|letter| letter.is_ascii_hexdigit()) {
        return true;
    }
    let is_mixed = word.chars().any(|letter| letter.is_ascii_uppercase())
        && word.chars().any(|letter| letter.is_ascii_lowercase());
    let kinds: Vec<bool> = word.chars().map(|letter| letter.is_ascii_digit()).collect();
    let switches = kinds.windows(2).filter(|pair| pair.first() != pair.last()).count();
    is_mixed && digits >= 3 && switches >= 5
}

/// `password: x`, `token = x`, `the password is x1`.
fn named(text: &str) -> bool {
    let lower = text.to_lowercase();
    NAMES.iter().any(|name| {
        lower.match_indices(name).any(|(at, _)| {
            let rest = lower
                .get(at + name.len()..)
                .unwrap_or_default()
                .trim_start_matches(['s', '"', '\'', '`'])
                .trim_start();
            let (value, is_assigned) = match rest.strip_prefix([':', '=']) {
                Some(value) => (value, true),
                None => match rest.strip_prefix("is ") {
                    Some(value) => (value, false),
                    None => return false,
                },
            };
            let value = value.trim_start().trim_start_matches(['"', '\'', '`']);
            let value = value.split(char::is_whitespace).next().unwrap_or_default();
            let is_elsewhere =
                value.starts_with(['$', '<', '{', '%']) || value.contains("://") || value.starts_with('/');
            let has_digit = value.chars().any(|letter| letter.is_ascii_digit());
            value.chars().count() >= 4 && !is_elsewhere && (is_assigned || has_digit)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_seen_and_sentences_are_not() {
        for (text, expect) in [
            ("key is sk-proj-abcdefghijklmnop", true),
            ("KEY=ghp_abcdefghijklmnop1234", true),
            ("AKIAIOSFODNN7EXAMPLE works", true),
            ("eyJhbGciOi.eyJzdWIi.SflKxw", true),
            ("db at postgres://me:pass@host/db", true),
            ("password: hunter2", true),
            ("the password is hunter2", true),
            ("API_KEY = 'abcd'", true),
            ("use a1B2c3D4e5F6g7H8i9J0k1L2m3", true),
            ("5f4dcc3b5aa765d61d8327deb882cf99", true),
            ("-----BEGIN RSA PRIVATE KEY-----", true),
            ("the token is kept in the vault", false),
            ("password: ${DB_PASSWORD}", false),
            ("tokens are counted per run", false),
            ("the secret is where to look", false),
            ("deploys go to orders-service-production-2024 first", false),
            ("see https://wiki.example.com/teams/integration/2024/11/notes", false),
            ("the class is OrderServiceIntegrationTestConfiguration", false),
            ("src/main/wso2mi/artifacts/apis/OrdersAPI2.xml is the one", false),
            ("sk-", false),
        ] {
            assert_eq!(found(text).is_some(), expect, "{text:?}: {:?}", found(text));
        }
    }
}
