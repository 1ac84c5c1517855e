//! Files: made, shown, moved, removed.

use super::options::Options;
use crate::host::script::run::{Io, Shell};

pub(super) fn cat(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = match Options::read(arguments, "nAuvet", "", &[]) {
        Ok(options) => options,
        Err(what) => return shell.complain(io, &format!("cat: {what}"), 1),
    };
    let (content, code) = shell.input("cat", &options.rest, io);
    if options.has("n") {
        let lines = String::from_utf8_lossy(&content).into_owned();
        for (at, line) in lines.lines().enumerate() {
            shell.say(io, &format!("{:6}\t{line}", at + 1));
        }
    } else {
        shell.put(io, 1, &content);
    }
    code
}

pub(super) fn tee(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let content = io.input.borrow_mut().rest();
    shell.put(io, 1, &content);
    let append = arguments.iter().any(|word| word == "-a");
    let mut code = 0;
    for file in arguments.iter().filter(|word| !word.starts_with('-')) {
        let path = shell.path(file);
        if path == "/dev/null" {
            continue;
        }
        let mut whole = Vec::new();
        if append {
            whole = shell.content(file).unwrap_or_default();
        }
        whole.extend_from_slice(&content);
        if !shell.calls.files().write(&path, whole) {
            code = shell.complain(io, &format!("tee: {file}: No space left on device"), 1);
        }
    }
    code
}

pub(super) fn touch(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let mut code = 0;
    for file in arguments.iter().filter(|word| !word.starts_with('-')) {
        let path = shell.path(file);
        if shell.calls.files().get(&path).is_none() && !shell.calls.files().write(&path, Vec::new()) {
            code = shell.complain(io, &format!("touch: cannot touch '{file}': No space left on device"), 1);
        }
    }
    code
}

pub(super) fn remove(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let has = |letter| arguments.iter().any(|word| word.starts_with('-') && word.contains(letter));
    let (force, deep) = (has('f'), has('r') || has('R'));
    let mut code = 0;
    for file in arguments.iter().filter(|word| !word.starts_with('-')) {
        let path = shell.path(file);
        if deep {
            let below = format!("{path}/");
            let all: Vec<String> = shell
                .calls
                .files()
                .paths()
                .filter(|own| own.starts_with(&below))
                .map(str::to_owned)
                .collect();
            for own in &all {
                shell.calls.files().remove(own);
            }
        } else if shell.is_folder(&path) {
            code = shell.complain(io, &format!("rm: cannot remove '{file}': Is a directory"), 1);
            continue;
        }
        if !shell.calls.files().remove(&path) && !force {
            code = shell.complain(io, &format!("rm: cannot remove '{file}': No such file or directory"), 1);
        }
    }
    code
}

pub(super) fn make_folder(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let parents = arguments.iter().any(|word| word == "-p");
    let mut code = 0;
    for folder in arguments.iter().filter(|word| !word.starts_with('-')) {
        let path = shell.path(folder);
        if shell.is_folder(&path) {
            if !parents {
                code =
                    shell.complain(io, &format!("mkdir: cannot create directory ‘{folder}’: File exists"), 1);
            }
        } else {
            shell.calls.files().make_folder(&path);
        }
    }
    code
}

/// Makes a file whose name nobody has yet: the letters follow from how many there are.
pub(super) fn make_file(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let folder = arguments.iter().any(|word| word == "-d");
    let template = arguments.iter().find(|word| !word.starts_with('-'));
    let template = template.map_or_else(|| "/tmp/tmp.XXXXXXXXXX".to_owned(), |template| shell.path(template));
    let count = template.chars().rev().take_while(|char| *char == 'X').count();
    let (stem, suffix) = template.split_at(template.len() - count);
    if count < 3 {
        return shell.complain(io, &format!("mktemp: too few X's in template ‘{template}’"), 1);
    }
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    let mut number = shell.calls.now().as_millis().unsigned_abs();
    loop {
        let mut left = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let name: String = suffix
            .chars()
            .map(|_| {
                let at = usize::try_from(left % 62).unwrap_or(0);
                left /= 62;
                char::from(LETTERS.get(at).copied().unwrap_or(b'a'))
            })
            .collect();
        let path = format!("{stem}{name}");
        number = number.wrapping_add(1);
        if shell.calls.files().get(&path).is_some() {
            continue;
        }
        let made = if folder {
            shell.calls.files().make_folder(&path)
        } else {
            shell.calls.files().write(&path, Vec::new())
        };
        if !made {
            return shell.complain(
                io,
                &format!("mktemp: failed to create file via template ‘{template}’: No space left on device"),
                1,
            );
        }
        if let Some(file) = shell.calls.files().get_mut(&path) {
            file.mode = if folder { 0o700 } else { 0o600 };
        }
        shell.say(io, &path);
        return 0;
    }
}

pub(super) fn chmod(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let words: Vec<&String> =
        arguments.iter().filter(|word| !(word.starts_with("-R") || *word == "--")).collect();
    let Some((mode, files)) = words.split_first() else {
        return shell.complain(io, "chmod: missing operand", 1);
    };
    let mut code = 0;
    for file in files {
        let path = shell.path(file);
        let Some(found) = shell.calls.files().get_mut(&path) else {
            code =
                shell.complain(io, &format!("chmod: cannot access '{file}': No such file or directory"), 1);
            continue;
        };
        match u32::from_str_radix(mode, 8) {
            Ok(mode) => found.mode = mode,
            Err(_) if mode.ends_with("+x") => found.mode |= 0o111,
            Err(_) if mode.ends_with("-x") => found.mode &= !0o111,
            Err(_) => code = shell.complain(io, &format!("chmod: invalid mode: ‘{mode}’"), 1),
        }
    }
    code
}

pub(super) fn chown(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let words: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let Some((owner, files)) = words.split_first() else {
        return shell.complain(io, "chown: missing operand", 1);
    };
    let name = owner.split([':', '.']).next().unwrap_or_default();
    if !matches!(name, "root" | "azureuser" | "nobody" | "") {
        return shell.complain(io, &format!("chown: invalid user: ‘{owner}’"), 1);
    }
    let mut code = 0;
    for file in files {
        let path = shell.path(file);
        match shell.calls.files().get_mut(&path) {
            Some(found) => name.clone_into(&mut found.owner),
            None => {
                code = shell.complain(
                    io,
                    &format!("chown: cannot access '{file}': No such file or directory"),
                    1,
                );
            }
        }
    }
    code
}

pub(super) fn copy(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    carry(shell, arguments, io, "cp")
}

pub(super) fn rename(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    carry(shell, arguments, io, "mv")
}

fn carry(shell: &mut Shell<'_>, arguments: &[String], io: &Io, tool: &str) -> u8 {
    let words: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let [from, to] = words.as_slice() else {
        return shell.complain(io, &format!("{tool}: missing file operand"), 1);
    };
    let content = match shell.content(from) {
        Ok(content) => content,
        Err(why) => return shell.complain(io, &format!("{tool}: cannot stat '{from}': {why}"), 1),
    };
    let mut target = shell.path(to);
    if shell.is_folder(&target) {
        target = format!("{target}/{}", from.rsplit('/').next().unwrap_or_default());
    }
    if !shell.calls.files().write(&target, content) {
        return shell.complain(io, &format!("{tool}: cannot create '{to}': No space left on device"), 1);
    }
    if tool == "mv" {
        let path = shell.path(from);
        shell.calls.files().remove(&path);
    }
    0
}

pub(super) fn list(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let has = |letter| arguments.iter().any(|word| word.starts_with('-') && word.contains(letter));
    let long = has('l');
    let mut named: Vec<String> = arguments.iter().filter(|word| !word.starts_with('-')).cloned().collect();
    if named.is_empty() {
        named.push(".".to_owned());
    }
    let mut code = 0;
    for name in named {
        let path = shell.path(&name);
        let mut found: Vec<String> = Vec::new();
        if shell.is_folder(&path) && !has('d') {
            let below = format!("{}/", path.trim_end_matches('/'));
            for own in shell.calls.files().paths() {
                let inside = own.strip_prefix(&below).and_then(|rest| rest.split('/').next());
                found.extend(inside.map(str::to_owned).filter(|inside| !inside.is_empty()));
            }
            found.dedup();
        } else if shell.is_there(&name) {
            found.push(name.clone());
        } else {
            code = shell.complain(io, &format!("ls: cannot access '{name}': No such file or directory"), 2);
        }
        for entry in found {
            let whole =
                if entry == name { path.clone() } else { format!("{}/{entry}", path.trim_end_matches('/')) };
            let line = match shell.calls.files().get(&whole) {
                Some(file) if long => {
                    let (mode, size) = (letters(file.mode), file.content.len());
                    format!("-{mode} 1 {} root {size} Jan  1 00:00 {entry}", file.owner)
                }
                _ => entry,
            };
            shell.say(io, &line);
        }
    }
    code
}

fn letters(mode: u32) -> String {
    (0..9)
        .rev()
        .zip("rwxrwxrwx".chars())
        .map(|(bit, letter)| if mode >> bit & 1 == 1 { letter } else { '-' })
        .collect()
}

pub(super) fn stat(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let options = match Options::read(arguments, "L", "cf", &["format", "printf"]) {
        Ok(options) => options,
        Err(what) => return shell.complain(io, &format!("stat: {what}"), 1),
    };
    let format = options.value("c").or_else(|| options.value("format")).unwrap_or("%n %s").to_owned();
    let mut code = 0;
    for name in &options.rest {
        let path = shell.path(name);
        let Ok(content) = shell.content(name) else {
            code = shell.complain(io, &format!("stat: cannot statx '{name}': No such file or directory"), 1);
            continue;
        };
        let (mode, owner) = shell
            .calls
            .files()
            .get(&path)
            .map_or((0o644, "root".to_owned()), |file| (file.mode, file.owner.clone()));
        let line = format
            .replace("%s", &content.len().to_string())
            .replace("%a", &format!("{mode:o}"))
            .replace("%U", &owner)
            .replace("%n", name);
        shell.say(io, &line);
    }
    code
}

pub(super) fn basename(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let name = arguments.first().map_or("", String::as_str).trim_end_matches('/');
    let name = name.rsplit('/').next().unwrap_or_default();
    let suffix = arguments.get(1).map_or("", String::as_str);
    let short = name.strip_suffix(suffix).filter(|short| !short.is_empty()).unwrap_or(name).to_owned();
    shell.say(io, &short);
    0
}

pub(super) fn dirname(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let name = arguments.first().map_or("", String::as_str);
    let folder =
        name.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
    let folder = folder.to_owned();
    shell.say(io, &folder);
    0
}
