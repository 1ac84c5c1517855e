//! Cuts a name into words: `DB_PASSWORD`, `dbPassword`, `db-password` and `db password` are the same two.

/// What follows a stem inside a word written without a boundary, with the words it stands for.
const GLUED: &[(&str, &[&str])] = &[
    ("nopasswd", &["no"]),
    ("htpasswd", &["htpasswd"]),
    ("passwords", &["passwords"]),
    ("password", &["password"]),
    ("passwd", &["passwd"]),
    ("passphrase", &["passphrase"]),
    ("passcode", &["passcode"]),
    ("publickey", &["public", "key"]),
    ("apikey", &["api", "key"]),
    ("accesskey", &["access", "key"]),
    ("secretkey", &["secret", "key"]),
    ("privatekey", &["private", "key"]),
    ("sharedkey", &["shared", "key"]),
    ("accountkey", &["account", "key"]),
    ("storagekey", &["storage", "key"]),
    ("masterkey", &["master", "key"]),
    ("primarykey", &["primary", "key"]),
    ("authkey", &["auth", "key"]),
    ("keyname", &["key", "name"]),
    ("keyvault", &["key", "vault"]),
    ("connectionstring", &["connection", "string"]),
    ("connstring", &["connection", "string"]),
    ("connstr", &["connection", "string"]),
    ("subscriptionid", &["subscription", "id"]),
    ("tenantid", &["tenant", "id"]),
    ("secret", &["secret"]),
    ("token", &["token"]),
    ("oldpwd", &["pwd"]),
    ("pwd", &["pwd"]),
    ("bindpw", &["password"]),
    ("rootpw", &["password"]),
    ("requirepass", &["password"]),
    ("masterauth", &["password"]),
];

/// What stands glued to `token` where the token only leads to the next page of a list, or stops something.
const PAGING: [&str; 9] =
    ["skip", "next", "page", "paging", "continuation", "sync", "delta", "cancel", "cancellation"];

/// Names longer than this are read from their end: the last words say what the value is.
const MAX_NAME_BYTES: usize = 96;

/// Splits a name into lower-case words, without digits.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut letters = tail(name).chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let next_is_lower = letters.peek().is_some_and(char::is_ascii_lowercase);
        // `userPWD` breaks before P, `PWDUser` before U.
        let starts = letter.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || (before.is_ascii_uppercase() && next_is_lower));
        if starts || !letter.is_alphabetic() {
            finish(&mut word, &mut found);
        }
        if letter.is_alphabetic() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    finish(&mut word, &mut found);
    found
}

/// Returns the last bytes of a name.
fn tail(name: &str) -> &str {
    let mut start = name.len().saturating_sub(MAX_NAME_BYTES);
    while !name.is_char_boundary(start) {
        start += 1;
    }
    name.get(start..).unwrap_or(name)
}

/// Moves a finished word to the list, cut up where it is glued.
fn finish(word: &mut String, found: &mut Vec<String>) {
    if word.is_empty() {
        return;
    }
    match GLUED.iter().find(|(stem, _)| word.ends_with(stem)) {
        Some((stem, parts)) => {
            // `skiptoken` leads to the next page and opens nothing.
            let before = word.strip_suffix(stem).unwrap_or_default();
            found.extend(PAGING.contains(&before).then(|| before.to_owned()));
            found.extend(parts.iter().map(|part| (*part).to_owned()));
        }
        None => found.push(word.clone()),
    }
    word.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &[&str]) {
        assert_eq!(words(name), expected, "{name}");
    }

    #[test]
    fn every_form_of_a_name_gives_the_same_words() {
        for name in
            ["accessKey", "ACCESS_KEY", "access-key", "AccessKey2", "access.key", "accesskey", "Access Key"]
        {
            check(name, &["access", "key"]);
        }
    }

    #[test]
    fn acronyms_are_words() {
        check("userPWD", &["user", "pwd"]);
        check("APIKey", &["api", "key"]);
        check("PGPASSWORD", &["password"]);
    }

    #[test]
    fn a_word_that_only_contains_a_stem_is_itself() {
        check("monkey", &["monkey"]);
        check("tokens", &["tokens"]);
        check("NOPASSWD", &["no"]);
    }
}
