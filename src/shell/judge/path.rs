//! Paths as text: what they come down to after `//`, `.` and `..`.

use crate::shell::policy::Block;

/// Returns the last part of a path.
pub(super) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Cleans a path without looking at the machine. A home directory stands as `~` in front.
pub(super) fn clean(path: &str) -> String {
    let (home, rest) = split_home(path);
    let mut parts: Vec<&str> = Vec::new();
    let mut above_home = false;
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_some() || path.starts_with('/') => {}
            ".." if home => above_home = true,
            ".." => parts.push(".."),
            other => parts.push(other),
        }
    }
    let front = if above_home {
        "/home/"
    } else if home {
        "~/"
    } else if path.starts_with('/') {
        "/"
    } else {
        ""
    };
    let cleaned = format!("{front}{}", parts.join("/"));
    if cleaned.len() > 1 { cleaned.trim_end_matches('/').to_owned() } else { cleaned }
}

fn split_home(path: &str) -> (bool, &str) {
    for name in ["${HOME}", "$HOME"] {
        if let Some(rest) = path.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            return (true, rest);
        }
    }
    match path.strip_prefix('~') {
        Some(rest) => (true, rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default()),
        None => (false, path),
    }
}

/// Tells whether a path is a system or home tree as a whole, or all that lies in one.
pub(super) fn is_protected(path: &str, block: &Block) -> bool {
    spread(path).iter().any(|path| {
        let mut path = path.trim_end_matches('/');
        while let Some(rest) = path.strip_suffix("/*") {
            path = rest.trim_end_matches('/');
        }
        let rooted = path.is_empty() || path == "*";
        let cleaned = clean(if path.is_empty() { "/" } else { path });
        (rooted && !path.contains('*')) || cleaned == "~" || block.protected.contains(&cleaned)
    })
}

/// Tells whether writing to a path writes onto a device, or asks the kernel to act.
pub(super) fn is_device(path: &str, block: &Block) -> bool {
    spread(path).iter().any(|path| {
        let cleaned = clean(path);
        if cleaned == "/proc/sysrq-trigger" {
            return true;
        }
        let Some(device) = cleaned.strip_prefix("/dev/") else { return false };
        !block.harmless_devices.iter().any(|harmless| match harmless.strip_suffix('*') {
            Some(folder) => device.starts_with(folder),
            None => device == harmless,
        })
    })
}

/// Writes out one brace expansion, as a shell would.
pub(super) fn spread(path: &str) -> Vec<String> {
    let parts = path
        .split_once('{')
        .and_then(|(front, rest)| rest.split_once('}').map(|(inside, back)| (front, inside, back)));
    match parts {
        Some((front, inside, back)) if inside.contains(',') => {
            inside.split(',').take(64).map(|part| format!("{front}{part}{back}")).collect()
        }
        _ => vec![path.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_comes_down_to_what_it_names() {
        for (path, cleaned) in [
            ("/", "/"),
            ("//", "/"),
            ("/.", "/"),
            ("/etc/../", "/"),
            ("/./usr//lib/", "/usr/lib"),
            ("~/", "~"),
            ("~ops/x/..", "~"),
            ("$HOME", "~"),
            ("${HOME}/.ssh", "~/.ssh"),
            ("~/..", "/home"),
            ("a/../b", "b"),
            ("../x", "../x"),
            ("$HOMEX", "$HOMEX"),
            ("/../../etc", "/etc"),
        ] {
            assert_eq!(clean(path), cleaned, "{path}");
        }
    }

    #[test]
    fn braces_are_written_out() {
        assert_eq!(spread("/{usr,var}/*"), ["/usr/*", "/var/*"]);
        assert_eq!(spread("{}"), ["{}"]);
    }
}
