//! The variables that a command sees: a short list, and nothing that makes a program load or run something.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::resolve::FOLDERS;

/// What every command may see where the caller knows it.
const SHARED: [&str; 15] = [
    "LANG",
    "LOGNAME",
    "TZ",
    "USER",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERMINFO",
];

/// The variables of the cloud's command, which hold credentials and so are for `az` and for approved commands.
const CLOUD: &str = "AZURE_";

/// Where `kubectl` finds clusters and how to sign in there.
const KUBECONFIG: &str = "KUBECONFIG";

/// Where `az` asks for the machine's own identity, on platforms that have an address of their own for it.
const MACHINE: [&str; 6] = [
    "IDENTITY_ENDPOINT",
    "IDENTITY_HEADER",
    "IDENTITY_SERVER_THUMBPRINT",
    "IMDS_ENDPOINT",
    "MSI_ENDPOINT",
    "MSI_SECRET",
];

/// Whose files a program finds at home.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Home<'a> {
    /// An empty folder of the command's own, so that no `.curlrc` or `init.lua` of the user is read.
    Scratch(&'a Path),
    /// The user's, with temporary files in the command's own folder: `az` keeps its sign-in there.
    Cloud(&'a Path),
    /// The user's: a human approved.
    Real,
}

/// Builds the variables of one command from those that the caller knows.
pub(crate) fn environment(known: &BTreeMap<String, OsString>, home: Home<'_>) -> BTreeMap<String, OsString> {
    let wanted = |name: &str| match home {
        Home::Scratch(_) => SHARED.contains(&name),
        Home::Cloud(_) | Home::Real => {
            let is_own = name == "HOME" || (name == KUBECONFIG && matches!(home, Home::Real));
            SHARED.contains(&name) || MACHINE.contains(&name) || is_own || name.starts_with(CLOUD)
        }
    };
    let mut seen: BTreeMap<String, OsString> = known
        .iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut set = |name: &str, value: OsString| drop(seen.insert(name.to_owned(), value));
    set("PATH", FOLDERS.join(":").into());
    set("LC_ALL", "C.UTF-8".into());
    set("TERM", "dumb".into());
    // Nobody turns pages here: a pager reads settings of its own and starts what they name.
    set("PAGER", "cat".into());
    set("SYSTEMD_PAGER", "cat".into());
    // Without a terminal `az` would download and run an extension that a command names.
    set("AZURE_EXTENSION_USE_DYNAMIC_INSTALL", "no".into());
    match home {
        Home::Scratch(folder) => {
            set("HOME", folder.into());
            set("TMPDIR", folder.into());
            // Without these curl examines the home of the passwd entry, and nstat into a file in /tmp.
            set("CURL_HOME", folder.into());
            set("NSTAT_HISTORY", folder.join("nstat").into());
            // The LDAP library, which curl asks for its version, examines `ldaprc` where the command runs.
            set("LDAPNOINIT", "1".into());
            // `iptables -L` takes a lock that it creates; reading needs none, but it insists.
            set("XTABLES_LOCKFILE", folder.join("xtables.lock").into());
        }
        Home::Cloud(folder) => set("TMPDIR", folder.into()),
        Home::Real => {}
    }
    if matches!(home, Home::Cloud(_) | Home::Real) {
        // Without a terminal `az` fetches and runs an unknown command's extension, unasked.
        set("AZURE_EXTENSION_USE_DYNAMIC_INSTALL", "no".into());
    }
    seen
}

/// Returns the variable that leads `kubectl` to the file with the user's clusters, from a home that is not the user's. What that file would
/// start to sign in cannot be started there.
pub(crate) fn kubeconfig(known: &BTreeMap<String, OsString>) -> Option<(String, OsString)> {
    let own = known.get(KUBECONFIG).filter(|value| !value.is_empty()).cloned();
    let usual = || {
        let home = Path::new(known.get("HOME")?);
        home.is_absolute().then(|| home.join(".kube/config").into_os_string())
    };
    Some((KUBECONFIG.to_owned(), own.or_else(usual)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> BTreeMap<String, OsString> {
        ["HOME", "USER", "AZURE_CONFIG_DIR", "LD_PRELOAD", "SLACK_BOT_TOKEN", "BASH_ENV", "PATH"]
            .into_iter()
            .map(|name| (name.to_owned(), OsString::from(format!("known-{name}"))))
            .collect()
    }

    fn names(home: Home<'_>) -> Vec<String> {
        environment(&known(), home).into_keys().collect()
    }

    #[test]
    fn a_safe_command_sees_its_own_home_and_no_credentials() {
        assert_eq!(
            names(Home::Scratch(Path::new("/s"))),
            [
                "AZURE_EXTENSION_USE_DYNAMIC_INSTALL",
                "CURL_HOME",
                "HOME",
                "LC_ALL",
                "LDAPNOINIT",
                "NSTAT_HISTORY",
                "PAGER",
                "PATH",
                "SYSTEMD_PAGER",
                "TERM",
                "TMPDIR",
                "USER",
                "XTABLES_LOCKFILE"
            ]
        );
        let seen = environment(&known(), Home::Scratch(Path::new("/s")));
        assert_eq!(seen.get("HOME"), Some(&OsString::from("/s")));
    }

    #[test]
    fn az_sees_its_configuration_folder_and_the_real_home() {
        assert_eq!(
            names(Home::Cloud(Path::new("/s"))),
            [
                "AZURE_CONFIG_DIR",
                "AZURE_EXTENSION_USE_DYNAMIC_INSTALL",
                "HOME",
                "LC_ALL",
                "PAGER",
                "PATH",
                "SYSTEMD_PAGER",
                "TERM",
                "TMPDIR",
                "USER"
            ]
        );
    }

    #[test]
    fn kubectl_finds_the_file_of_the_user_and_nothing_else_does() {
        let at = |known: &[(&str, &str)]| {
            let known =
                known.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
            kubeconfig(&known).map(|(_, path)| path)
        };
        assert_eq!(at(&[("HOME", "/home/ana")]), Some("/home/ana/.kube/config".into()));
        assert_eq!(at(&[("HOME", "/home/ana"), ("KUBECONFIG", "/k")]), Some("/k".into()));
        assert_eq!(at(&[("HOME", "ana"), ("KUBECONFIG", "")]), None);
        let known = BTreeMap::from([("KUBECONFIG".to_owned(), OsString::from("/k"))]);
        assert!(!environment(&known, Home::Scratch(Path::new("/s"))).contains_key("KUBECONFIG"));
        assert!(environment(&known, Home::Real).contains_key("KUBECONFIG"));
    }

    #[test]
    fn az_installs_no_extension_by_itself_whatever_the_caller_knows() {
        const NAME: &str = "AZURE_EXTENSION_USE_DYNAMIC_INSTALL";
        let known = BTreeMap::from([(NAME.to_owned(), OsString::from("yes_without_prompt"))]);
        for home in [Home::Scratch(Path::new("/s")), Home::Cloud(Path::new("/s")), Home::Real] {
            assert_eq!(environment(&known, home).get(NAME), Some(&OsString::from("no")), "{home:?}");
        }
    }

    #[test]
    fn the_path_is_the_pinned_one_whatever_the_caller_knows() {
        let seen = environment(&known(), Home::Real);
        assert_eq!(
            seen.get("PATH"),
            Some(&OsString::from("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"))
        );
        assert!(!seen.contains_key("LD_PRELOAD") && !seen.contains_key("BASH_ENV"));
    }
}
