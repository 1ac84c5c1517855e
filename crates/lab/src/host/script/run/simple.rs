//! A simple command: its words, and who answers to them.

use std::rc::Rc;

use super::shell::{Flow, Io, Shell};
use crate::host::script::tool;
use crate::host::script::tree::{Redirect, Word};

impl Shell<'_> {
    pub(super) fn simple(
        &mut self,
        assigns: &[(String, Word)],
        words: &[Word],
        redirects: &[Redirect],
        io: &Io,
    ) -> Flow {
        self.substituted = false;
        let argv = match self.fields(words, io) {
            Ok(argv) => argv,
            Err(flow) => return flow,
        };
        let mut values = Vec::new();
        for (name, word) in assigns {
            match self.text(word, io) {
                Ok(value) => values.push((name.clone(), value)),
                Err(flow) => return flow,
            }
        }
        let own = match self.redirected(redirects, io) {
            Ok(Some(own)) => own,
            Ok(None) => return self.ended(),
            Err(flow) => return flow,
        };
        if self.options.trace && !argv.is_empty() {
            self.complain(io, &format!("+ {}", argv.join(" ")), 0);
        }
        if argv.is_empty() {
            if !self.substituted {
                self.status = 0;
            }
            self.variables.extend(values);
            return self.ended();
        }
        let before: Vec<(String, Option<String>)> =
            values.iter().map(|(name, _)| (name.clone(), self.variables.get(name).cloned())).collect();
        self.variables.extend(values);
        let flow = self.argv(&argv, &own);
        for (name, value) in before {
            match value {
                Some(value) => self.variables.insert(name, value),
                None => self.variables.remove(&name),
            };
        }
        if flow == Flow::Next { self.ended() } else { flow }
    }

    /// Ends the script where a failure is to end it.
    fn ended(&mut self) -> Flow {
        let fails = self.status != 0 && self.options.errexit && self.conditional == 0;
        if fails { Flow::Exit } else { Flow::Next }
    }

    /// Runs words: a function, one of the shell's own commands, a text tool, a program.
    pub(super) fn argv(&mut self, argv: &[String], io: &Io) -> Flow {
        let Some((name, arguments)) = argv.split_first() else {
            self.status = 0;
            return Flow::Next;
        };
        if let Some(body) = self.functions.get(name).map(Rc::clone) {
            if let Err(flow) = self.deeper() {
                return flow;
            }
            let before = std::mem::replace(&mut self.arguments, arguments.to_vec());
            let flow = self.command(&body, io);
            self.arguments = before;
            self.shallower();
            return if flow == Flow::Return { Flow::Next } else { flow };
        }
        if let Some(flow) = self.builtin(name, arguments, io) {
            return flow;
        }
        if let Some(flow) = self.wrapped(name, arguments, io) {
            return flow;
        }
        let bare = ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"]
            .iter()
            .find_map(|folder| name.strip_prefix(folder));
        if let Some(run) = tool::find(bare.unwrap_or(name)) {
            self.status = run(self, arguments, io);
            return Flow::Next;
        }
        self.program(argv, io);
        Flow::Next
    }

    /// Runs a program of the machine.
    pub(super) fn program(&mut self, argv: &[String], io: &Io) {
        let Some(name) = argv.first() else { return };
        // Nothing that a script wrote can be executed; `bash FILE` reads it.
        if name.contains('/') && {
            let path = self.path(name);
            self.calls.files().get(&path).is_some()
        } {
            self.status = self.protest(io, &format!("{name}: Permission denied"), 126);
            return;
        }
        let input = {
            let mut input = io.input.borrow_mut();
            let at = input.at;
            let rest = String::from_utf8_lossy(&input.rest()).into_owned();
            // Only what reads its input takes it away from the commands that follow.
            if !reads(argv) {
                input.at = at;
            }
            rest
        };
        let called = match self.limit {
            Some(limit) => {
                let left = limit.since(self.calls.now());
                let mut words = vec!["timeout".to_owned(), format!("{:.3}", left.as_secs_f64())];
                words.extend(argv.iter().cloned());
                self.calls.call(&words, &input)
            }
            None => self.calls.call(argv, &input),
        };
        self.put(io, 1, called.out.as_bytes());
        self.put(io, 2, called.err.as_bytes());
        self.status = called.code;
        if called.code == 127 && called.err.is_empty() {
            let what = if name.contains('/') { "No such file or directory" } else { "command not found" };
            self.status = self.protest(io, &format!("{name}: {what}"), 127);
        }
    }
}

/// Whether a program reads its input.
fn reads(argv: &[String]) -> bool {
    let name = argv.first().map_or("", |name| name.rsplit('/').next().unwrap_or_default());
    name.contains("restore")
        || name.contains("save")
        || matches!(name, "nft" | "tc" | "ip" | "nc" | "ssh" | "ipset")
}
