//! Secrets on a command line whose option does not say so: `-p`, `-u user:password`, `set --value`.

use crate::redact::reader::{Rule, rule};

/// One rule per habit; each is tied to its program, because `-p` is a port elsewhere.
pub(super) static RULES: [Rule; 16] = [
    // curl: the user may be followed by the password.
    rule!(
        "password",
        ["curl", "wget", "http", "xh"],
        r#"(?i)(?:^|[^a-z])(?:curl|wget|http|https|xh)\b[^\r\n]{0,300}?\s(?:-[a-zA-Z]{0,6}u|--user|--proxy-user|-U|-a|--auth)[ =]?["']?[^\s:"'-][^\s:"']*:([^\s"']+)"#
    ),
    rule!(
        "password",
        ["--user", "--proxy-user", "--auth"],
        r#"(?:^|\s)(?:--user|--proxy-user|--auth)[ =]["']?[A-Za-z0-9_.@\\-]*[A-Za-z@][A-Za-z0-9_.@\\-]*:([^\s"':/]*[0-9!@#$%^&*?][^\s"':/]*)["'\s]"#
    ),
    rule!(
        "password",
        ["az"],
        r#"\baz\s[^\r\n]{0,300}?\s-p[ =]+(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'-]\S*))"#
    ),
    rule!(
        "password",
        ["sshpass", "docker login", "podman login", "helm registry login", "oras login"],
        r#"\b(?:sshpass|docker login|podman login|helm registry login|oras login)\s(?:[^\r\n]{0,300}?\s)?-p ?(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'-]\S*))"#
    ),
    rule!(
        "password",
        ["mysql", "mariadb"],
        r#"\b(?:mysql|mariadb)[a-z-]{0,16}\b[^\r\n]{0,300}?\s-p(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'=-]\S*))"#
    ),
    rule!(
        "password",
        ["redis-cli"],
        r#"\bredis-cli\b[^\r\n]{0,300}?\s-a (?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'-]\S*))"#
    ),
    rule!(
        "password",
        ["ldap"],
        r#"\bldap(?:search|modify|add|whoami|delete|passwd)\b[^\r\n]{0,300}?\s-w ?(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'-]\S*))"#
    ),
    rule!(
        "password",
        ["ipmitool", "bcp", "sqlcmd"],
        r"\b(?:ipmitool|bcp|sqlcmd)\b[^\r\n]{0,300}?\s-P ?([^\s-]\S*)"
    ),
    rule!(
        "password",
        ["smbclient", "rpcclient", "net rpc", "mount.cifs"],
        r"\b(?:smbclient|rpcclient|net rpc|mount\.cifs)\b[^\r\n]{0,300}?\s-U ?[^\s%]+%(\S+)"
    ),
    // The options of a mount: `user=NAME%PASSWORD`.
    rule!("password", ["user=", "username="], r"\buser(?:name)?=[^\s%,;&=]{1,64}%([^\s,;&%]+)(?:[\s,]|$)"),
    rule!("password", ["pass:"], r"\s-?-pass(?:in|out)?[ =]pass:(\S+)"),
    rule!(
        "secret",
        ["keyvault secret set"],
        r#"\bkeyvault secret set\b[^\r\n]{0,300}?\s--value[ =](?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'-]\S*))"#
    ),
    rule!(
        "cookie",
        ["curl"],
        r#"\bcurl\b[^\r\n]{0,300}?\s(?:-b|--cookie)[ =]["']?[^\s=;"']{1,64}=([^\r\n"' ]+)"#
    ),
    rule!(
        "password",
        ["snmp"],
        r"\bsnmp(?:walk|get|set|getnext|bulkwalk|bulkget|table|status)\b[^\r\n]{0,300}?\s-[cAX] ?([^\s-]\S*)"
    ),
    rule!(
        "password",
        ["ssh-keygen"],
        r#"\bssh-keygen\b[^\r\n]{0,300}?\s-[NP] (?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\s"'-]\S*))"#
    ),
    // SQL, and the file of passwords that ftp and curl read.
    rule!(
        "password",
        ["identified", "password"],
        r#"(?i)\b(?:identified\s+(?:with\s+\S+\s+)?by|with\s+(?:encrypted\s+)?password|set\s+password\s*=|\blogin\s+\S+\s+password|\bpassword)\s+(?:'([^'\r\n]+)'|"([^"\r\n]+)")|\blogin\s+\S+\s+password\s+([^\s"']+)"#
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::reader;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        reader::check(&RULES, text, expected);
    }

    #[test]
    fn short_options_hide_where_their_program_says_so() {
        check("curl -su admin:hunter2 http://10.0.0.1", &["hunter2"]);
        check("az login --service-principal -u app -p hunter2 --tenant x", &["hunter2"]);
        check("mysql -u root -phunter2 -h db", &["hunter2"]);
        check("mysqldump -uroot -phunter2 shop", &["hunter2"]);
        check("mariadb-dump -u root -phunter2", &["hunter2"]);
        check("//nas/x /mnt cifs user=ops%hunter2,vers=3.0 0 0", &["hunter2"]);
        check("sshpass -p 'a b' ssh ops@10.0.0.1", &["a b"]);
        check("ALTER USER app WITH PASSWORD 'a b';", &["a b"]);
        check("machine db login app password hunter2", &["hunter2"]);
    }

    #[test]
    fn the_same_letters_elsewhere_stay() {
        check("docker run --user 1000:1000 -p 8080:80 nginx", &[]);
        check("iptables -A INPUT -p tcp --dport 22 -j ACCEPT", &[]);
        check("nc -u 10.0.0.1:53", &[]);
        check("mysql -P 3306 -h db", &[]);
        check("http://h/?user=a%20b&x=1", &[]);
    }
}
