//! Where inputs come from and outputs go.

use super::shell::{Flow, Input, Io, Shell, Target};
use crate::host::script::tree::{Redirect, RedirectKind};

impl Shell<'_> {
    /// Opens what redirections name; nothing where one of them cannot be opened, which is reported.
    pub(super) fn redirected(&mut self, redirects: &[Redirect], io: &Io) -> Result<Option<Io>, Flow> {
        let mut io = io.clone();
        for redirect in redirects {
            let target = match redirect.document.as_ref().and_then(|document| document.get()) {
                Some(document) => self.text(document, &io)?,
                None => self.text(&redirect.target, &io)?,
            };
            let output = redirect.descriptor.unwrap_or(1);
            match redirect.kind {
                RedirectKind::Text => io.input = Input::of(target.into_bytes()),
                RedirectKind::Read => match self.content(&target) {
                    Ok(content) => io.input = Input::of(content),
                    Err(why) => {
                        self.status = self.protest(&io, &format!("{target}: {why}"), 1);
                        return Ok(None);
                    }
                },
                RedirectKind::Write | RedirectKind::Append | RedirectKind::Both => {
                    let Some(opened) = self.opened(&target, redirect.kind == RedirectKind::Append) else {
                        let path = self.path(&target);
                        let why = if self.is_folder(&path) {
                            "Is a directory"
                        } else {
                            "No such file or directory"
                        };
                        self.status = self.protest(&io, &format!("{target}: {why}"), 1);
                        return Ok(None);
                    };
                    if redirect.kind == RedirectKind::Both {
                        io.targets.insert(2, opened.clone());
                    }
                    io.targets.insert(output, opened);
                }
                RedirectKind::Duplicate if target == "-" => {
                    io.targets.insert(output, Target::Null);
                }
                RedirectKind::Duplicate => {
                    let source = target.parse().ok();
                    let found = source.and_then(|source: u32| io.targets.get(&source).cloned());
                    match (source, found) {
                        (Some(0), None) => {}
                        (Some(_), Some(found)) => {
                            io.targets.insert(output, found);
                        }
                        (Some(_), None) => {
                            self.status = self.protest(&io, &format!("{target}: Bad file descriptor"), 1);
                            return Ok(None);
                        }
                        (None, _) => {
                            self.status = self.protest(&io, &format!("{target}: ambiguous redirect"), 1);
                            return Ok(None);
                        }
                    }
                }
            }
        }
        Ok(Some(io))
    }

    fn opened(&mut self, target: &str, append: bool) -> Option<Target> {
        let path = self.path(target);
        match path.as_str() {
            "/dev/null" => return Some(Target::Null),
            "/dev/stdout" => return Some(Target::Buffer(0)),
            "/dev/stderr" => return Some(Target::Buffer(1)),
            _ => {}
        }
        if path.starts_with("/proc/sys/") {
            // What the kernel holds is set by whoever knows the machine, as the text comes.
            self.calls.files().write(&path, Vec::new());
            return Some(Target::File(path));
        }
        if self.is_folder(&path) || !self.has_folder(&path) {
            return None;
        }
        let keep = append && self.calls.files().get(&path).is_some();
        (keep || self.calls.files().write(&path, Vec::new())).then_some(Target::File(path))
    }

    /// Makes a path absolute.
    pub(in crate::host::script) fn path(&self, path: &str) -> String {
        let here = self.variables.get("PWD").map_or("/root", String::as_str);
        let whole = if path.starts_with('/') { path.to_owned() } else { format!("{here}/{path}") };
        let mut parts: Vec<&str> = Vec::new();
        for part in whole.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        format!("/{}", parts.join("/"))
    }

    /// Returns what a file holds, or why it cannot be read.
    pub(in crate::host::script) fn content(&mut self, path: &str) -> Result<Vec<u8>, &'static str> {
        let path = self.path(path);
        if path == "/dev/null" {
            return Ok(Vec::new());
        }
        if self.is_folder(&path) {
            return Err("Is a directory");
        }
        if let Some(file) = self.calls.files().get(&path) {
            return Ok(file.content.clone());
        }
        self.calls.read(&path).map(String::into_bytes).ok_or("No such file or directory")
    }

    /// Whether a file is there.
    pub(in crate::host::script) fn is_there(&mut self, path: &str) -> bool {
        let path = self.path(path);
        path == "/dev/null"
            || self.is_folder(&path)
            || self.calls.files().get(&path).is_some()
            || self.calls.read(&path).is_some()
            || path
                .rsplit('/')
                .next()
                .is_some_and(|name| self.calls.find(name).is_some_and(|place| place == path))
    }

    /// Whether a folder is there: the usual ones, those that were made, and those of other files.
    pub(in crate::host::script) fn is_folder(&mut self, path: &str) -> bool {
        const USUAL: [&str; 17] = [
            "/",
            "/tmp",
            "/root",
            "/etc",
            "/var",
            "/var/log",
            "/var/tmp",
            "/home",
            "/home/azureuser",
            "/usr",
            "/usr/bin",
            "/usr/sbin",
            "/proc",
            "/sys",
            "/run",
            "/dev",
            "/opt",
        ];
        let path = self.path(path);
        if USUAL.contains(&path.as_str()) {
            return true;
        }
        let below = format!("{path}/");
        let files = self.calls.files();
        files
            .get(&path)
            .map_or_else(|| files.paths().any(|file| file.starts_with(&below)), |file| file.folder)
    }

    fn has_folder(&mut self, path: &str) -> bool {
        let folder =
            path.rsplit_once('/').map_or("/", |(folder, _)| if folder.is_empty() { "/" } else { folder });
        self.is_folder(folder)
    }
}
