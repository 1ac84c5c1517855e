//! Which form a file has, and what it says.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::{Entries, MAX_ENTRIES, ansible, ssh_config, table, yaml};
use crate::input;
use crate::print::Hinted;
use crate::setup::Setup;

/// A longer file is no inventory.
const MAX_BYTES: usize = 1 << 20;

/// Reads a file of machines; `home` stands for `~` in paths.
pub fn read(path: &Path, home: Option<&Path>) -> anyhow::Result<Entries> {
    let reading = || format!("reading the inventory {}", path.display());
    let text = input::text(path, MAX_BYTES).with_context(reading)?;
    let mut entries = parse(&text, path).with_context(reading)?;
    if entries.is_empty() {
        let error = anyhow::anyhow!("{} names no machine", path.display());
        return Err(Hinted::new(
            error,
            "it is an ssh configuration, an inventory of Ansible (INI or YAML), or a CSV with name and address",
        )
        .into());
    }
    for (name, entry) in &mut entries {
        if let Some(key) = &entry.key {
            entry.key = Some(whole(key, home).with_context(|| format!("finding the key of {name}"))?);
        }
        let problems = entry.problems(name);
        anyhow::ensure!(problems.is_empty(), "{}", problems.join("; ").replace("[hosts", "[inventory"));
    }
    Ok(entries)
}

fn parse(text: &str, path: &Path) -> anyhow::Result<Entries> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let entries = match ending.to_ascii_lowercase().as_str() {
        "csv" => table::parse(text)?,
        "yml" | "yaml" => yaml::parse(text)?,
        "ini" => ansible::parse(text)?,
        _ if ssh_config::is_one(text) => ssh_config::parse(text),
        _ if yaml::is_one(text) => yaml::parse(text)?,
        _ if table::is_one(text) => table::parse(text)?,
        _ => ansible::parse(text)?,
    };
    anyhow::ensure!(entries.len() <= MAX_ENTRIES, "it names more than {MAX_ENTRIES} machines");
    Ok(entries)
}

fn whole(key: &Path, home: Option<&Path>) -> anyhow::Result<PathBuf> {
    match (key.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => Ok(home.join(rest)),
        (Ok(_), None) => anyhow::bail!("{} begins with `~`, and there is no $HOME", key.display()),
        (Err(_), _) => Ok(key.to_owned()),
    }
}

/// Returns the machines of an inventory; without one those of the configuration.
pub fn entries(inventory: Option<&Path>, setup: &Setup) -> anyhow::Result<Entries> {
    match inventory {
        Some(path) => read(path, setup.environment.path("HOME").as_deref()),
        None => Ok(setup.config.hosts.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, text: &str, expected: &[(&str, &str, &str, u16)]) {
        let found = parse(text, Path::new(file)).unwrap();
        let found: Vec<(&str, &str, &str, u16)> = found
            .iter()
            .map(|(name, entry)| {
                let user = entry.user.as_deref().unwrap_or_default();
                (name.as_str(), entry.address.as_deref().unwrap_or_default(), user, entry.port.unwrap_or(0))
            })
            .collect();
        assert_eq!(found, expected, "{file}");
    }

    #[test]
    fn each_form_names_the_same_machines() {
        let expected = [("db-1", "10.0.2.4", "", 2222), ("web-1", "10.0.1.4", "ops", 0)];
        check(
            "config",
            "# mine\nHost web-1\n  HostName 10.0.1.4\n  User ops\nHost db-1 *.lab !x\n\tHostName=10.0.2.4\n\tPort 2222\nMatch exec true\n  User evil\n",
            &expected,
        );
        check(
            "hosts",
            "[web]\nweb-1 ansible_host=10.0.1.4 ansible_user=ops ; a comment\n[db]\ndb-1 ansible_host='10.0.2.4'\n[db:vars]\nansible_port=2222\n[all:children]\nweb\ndb\n",
            &expected,
        );
        check(
            "hosts.yml",
            "all:\n  children:\n    web:\n      hosts:\n        web-1: {ansible_host: 10.0.1.4, ansible_user: ops}\n    db:\n      vars: {ansible_port: 2222}\n      hosts:\n        db-1:\n          ansible_host: 10.0.2.4\n",
            &expected,
        );
        check(
            "hosts.csv",
            "name,address,user,port\nweb-1,10.0.1.4,ops,\n\"db-1\",10.0.2.4,,2222\n",
            &expected,
        );
        check("hosts.csv", "web-1,10.0.1.4,ops\ndb-1,10.0.2.4,,2222\n", &expected);
    }

    #[test]
    fn ranges_stand_for_their_machines() {
        let names = |text: &str| parse(text, Path::new("hosts")).unwrap().into_keys().collect::<Vec<_>>();
        assert_eq!(names("[w]\nweb[08:10].lab\n"), ["web08.lab", "web09.lab", "web10.lab"]);
        assert_eq!(names("[w]\nnode-[a:c]\n"), ["node-a", "node-b", "node-c"]);
        assert!(parse("[w]\nweb[1:99999]\n", Path::new("hosts")).is_err());
    }

    #[test]
    fn nothing_in_a_file_is_run_or_taken_for_a_password() {
        let found = parse(
            "[w]\nweb-1 ansible_password=x ansible_ssh_common_args='-o ProxyCommand=evil' ansible_connection=local\n",
            Path::new("hosts"),
        )
        .unwrap();
        assert!(found["web-1"].local && found["web-1"].jump.is_none());
        let found =
            parse("Host a\n ProxyCommand evil\n ProxyJump ops@gate:22\n", Path::new("config")).unwrap();
        assert_eq!(found["a"].jump.as_deref(), Some("gate"));
    }

    #[test]
    fn odd_text_is_no_inventory_and_does_not_end_the_program() {
        for (file, text) in [
            ("a.yml", "all: [1, 2"),
            ("a.yml", "- a\n- b\n"),
            ("a.csv", "\"x\ny"),
            ("hosts", "[w\nx"),
            ("hosts", "web[1:\n"),
            ("config", "Host\n Port x\n"),
            ("", "\u{0}\u{1}"),
        ] {
            drop(parse(text, Path::new(file)));
        }
    }
}
