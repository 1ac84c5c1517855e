//! Paths as text: what they come down to after `//`, `.` and `..`.

use crate::policy::Block;
use crate::text::brace::expand;

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
        if path.starts_with('/') && is_root_link(&parts) {
            parts.clear();
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

/// Tells whether a path is the link by which the kernel shows the root of a process: all files of the machine, or of a container, lie behind it.
fn is_root_link(parts: &[&str]) -> bool {
    matches!(parts, ["proc", _, "root"] | ["proc", _, "task", _, "root"])
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

/// What the words of a command are held against, and where relative ones start.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathContext<'g> {
    /// What never runs.
    pub(super) block: &'g Block,
    /// The folder that `cd` went to, empty where none did.
    pub(super) place: &'g str,
}

/// Puts a relative path behind the folder where it starts.
pub(super) fn from_place(path: &str, place: &str) -> String {
    if place.is_empty() || path.starts_with(['/', '~', '$']) {
        path.to_owned()
    } else {
        format!("{place}/{path}")
    }
}

/// Tells whether a path is a system or home tree as a whole, all that lies in one, or a pattern for either.
pub(super) fn is_protected(path: &str, context: PathContext<'_>) -> bool {
    spread_whole(path).is_none_or(|paths| paths.iter().any(|path| is_tree(path, context)))
}

fn is_tree(path: &str, context: PathContext<'_>) -> bool {
    let path = from_place(path, context.place);
    let mut path = path.trim_end_matches('/');
    while let Some(rest) = path.strip_suffix("/*") {
        path = rest.trim_end_matches('/');
    }
    let cleaned = clean(if path.is_empty() { "/" } else { path });
    if cleaned == "~" || context.block.protected.contains(&cleaned) {
        return true;
    }
    let Some((above, last)) = cleaned.rsplit_once('/') else { return false };
    let opens_below = is_pattern(last)
        && (above.is_empty() || above == "~" || context.block.protected.iter().any(|tree| tree == above));
    opens_below || (is_pattern(&cleaned) && context.block.protected.iter().any(|tree| may_be(&cleaned, tree)))
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Tells whether a pattern of a path can stand for another path, part by part.
fn may_be(pattern: &str, path: &str) -> bool {
    pattern.split('/').count() == path.split('/').count()
        && pattern.split('/').zip(path.split('/')).all(|(pattern, part)| {
            let (pattern, part): (Vec<char>, Vec<char>) = (pattern.chars().collect(), part.chars().collect());
            part_may_be(&pattern, &part)
        })
}

/// Matches one part as a shell does. Whatever stands in brackets may be any character.
pub(super) fn part_may_be(pattern: &[char], part: &[char]) -> bool {
    // The places in the pattern that a match can have reached.
    let mut open = vec![false; pattern.len() + 1];
    let skip_stars = |open: &mut Vec<bool>| {
        for at in 0..pattern.len() {
            if open.get(at) == Some(&true) && pattern.get(at) == Some(&'*') {
                open.get_mut(at + 1).into_iter().for_each(|next| *next = true);
            }
        }
    };
    open.first_mut().into_iter().for_each(|start| *start = true);
    skip_stars(&mut open);
    for letter in part {
        let mut next = vec![false; pattern.len() + 1];
        for at in (0..pattern.len()).filter(|at| open.get(*at) == Some(&true)) {
            let to = match pattern.get(at) {
                Some('*') => Some(at),
                Some('?') => Some(at + 1),
                Some('[') => {
                    // `[]x]` and `[!]x]`: a bracket right at the start is one of the characters.
                    let front = if matches!(pattern.get(at + 1), Some('!' | '^')) { at + 3 } else { at + 2 };
                    let end = (front..pattern.len()).find(|end| pattern.get(*end) == Some(&']'));
                    end.map(|end| end + 1).or((*letter == '[').then_some(at + 1))
                }
                Some(own) => (own == letter).then_some(at + 1),
                None => None,
            };
            to.and_then(|to| next.get_mut(to)).into_iter().for_each(|place| *place = true);
        }
        open = next;
        skip_stars(&mut open);
    }
    open.last() == Some(&true)
}

/// Tells whether writing to a path writes onto a device, or asks the kernel to act.
pub(super) fn is_device(path: &str, context: PathContext<'_>) -> bool {
    let block = context.block;
    spread_whole(path).is_none_or(|paths| {
        paths.iter().any(|path| {
            let cleaned = clean(&from_place(path, context.place));
            if block.kernel_switches.contains(&cleaned) {
                return true;
            }
            let Some(device) = cleaned.strip_prefix("/dev/") else { return false };
            !block.harmless_devices.iter().any(|harmless| match harmless.strip_suffix('*') {
                Some(folder) => device.starts_with(folder),
                None => device == harmless,
            })
        })
    })
}

/// Writes out brace expansions, `None` where they come to more words than anybody could review.
fn spread_whole(path: &str) -> Option<Vec<String>> {
    let (words, whole) = expand(path);
    whole.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::super::credential::names_one;
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
    fn the_root_of_a_process_is_that_of_the_machine() {
        for link in ["/proc/self/root", "/proc/1/root", "/proc/*/root", "/proc/self/task/7/root"] {
            for (behind, cleaned) in [("", "/"), ("/", "/"), ("/etc/x", "/etc/x"), ("/../etc", "/etc")] {
                assert_eq!(clean(&format!("{link}{behind}")), cleaned, "{link}{behind}");
                assert_eq!(clean(&format!("{link}{link}{behind}")), cleaned, "twice {link}{behind}");
            }
            for other in [format!("{link}s"), format!("/srv{link}"), format!("a{link}")] {
                assert_eq!(clean(&other), other);
            }
        }
    }

    #[test]
    fn braces_that_come_to_too_many_words_hide_no_tree_no_device_and_no_credential() {
        let block = &crate::Policy::builtin().unwrap().block;
        let context = PathContext { block, place: "" };
        let many: Vec<String> = (0..300).map(|at| format!("a{at}")).collect();
        let hidden = format!("{{{},etc}}", many.join(","));
        assert!(
            is_protected(&format!("/{hidden}"), context) && is_device(&format!("/dev/{hidden}"), context)
        );
        let spelled = format!("/etc/{{sha,x}}{{dow,y}}{}", "{,1}".repeat(8));
        assert!(names_one(&spelled, &block.credentials));
        let quoted = format!("/etc/{{shadow,'}}{}", "{,1}".repeat(8));
        assert!(names_one(&quoted, &block.credentials));
        // Objects of a list do not multiply, in JSON and in what az takes for it.
        for object in [r#"{"id":"/a/b","port":443}"#, "{name:a,prefix:10.0.0.0/24}"] {
            let list = |last: &str| format!("[{}{last}]", format!("{object},").repeat(400));
            assert!(!names_one(&list(object), &block.credentials), "{object}");
            assert!(
                !names_one(&format!("{{\"all\":{},b:1.0}}", list(object)), &block.credentials),
                "{object}"
            );
            assert!(names_one(&list(r#"{"key":"/etc/shadow","b":1}"#), &block.credentials), "{object}");
        }
        // Deeper than anybody writes: it may be any.
        let deep = format!("{}/etc/x{}", "{a,".repeat(20_000), "}".repeat(20_000));
        assert!(names_one(&deep, &block.credentials));
        let unpaired = format!("./{}/{{x,.ssh/id_rsa}}", "{".repeat(60_000));
        assert!(names_one(&unpaired, &block.credentials));
        let few = format!("/tmp/{{{}}}", many[..200].join(","));
        assert!(!names_one(&few, &block.credentials));
        assert!(!is_protected(&few, context) && !is_device(&few, context));
    }

    #[test]
    fn a_pattern_that_can_be_a_tree_or_opens_in_one_is_protected() {
        let block = &crate::Policy::builtin().unwrap().block;
        let protected = |path: &str, place: &str| is_protected(path, PathContext { block, place });
        for path in [
            "/?*",
            "/e*",
            "/[a-z]*",
            "/{bin,etc}",
            "/etc/?*",
            "/us?",
            "/*",
            "//*",
            "/et[c]",
            "~/.*",
            "/[!x]tc",
            "/{u,v}*",
            "/home/*",
            "/Lib*",
            "/etc/*/",
        ] {
            assert!(protected(path, ""), "{path}");
        }
        for path in [
            "/tmp/*",
            "/tmp/ghost_*",
            "/var/lib/app/*",
            "/etc/nginx/*.conf",
            "*",
            "./x*",
            "/home/alice/*",
            "/tmp",
            "/srv/www/x?",
        ] {
            assert!(!protected(path, ""), "{path}");
        }
        for (path, place) in [
            ("*", "/"),
            (".", "/"),
            ("./*", "/etc"),
            ("etc", "/"),
            ("..", "/etc/nginx"),
            ("?*", "~"),
            ("../*", "/var/log"),
        ] {
            assert!(protected(path, place), "{path} in {place}");
        }
        for (path, place) in [("*", "/tmp"), ("x", "/"), ("log/x", "/var"), ("/tmp/x", "/")] {
            assert!(!protected(path, place), "{path} in {place}");
        }
    }
}
