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

pub(super) fn list(shell: &mut Shell<'_>, arguments: &[String], io: &Io) -> u8 {
    let has = |letter| arguments.iter().any(|word| word.starts_with('-') && word.contains(letter));
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
            shell.say(io, &entry);
        }
    }
    code
}
