//! A shell without a process.

use super::call::Calls;
use super::run::{Flow, Shell};
use crate::host::port::Ran;

/// The longest script.
const MAX_SCRIPT_BYTES: usize = 1 << 20;

/// A shell without a process: what scripts for machines are made of, and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::host) struct Interpreter;

impl Interpreter {
    /// Runs a script to its end.
    pub(in crate::host) fn run(
        self,
        text: &str,
        arguments: &[String],
        variables: &[(String, String)],
        calls: &mut dyn Calls,
    ) -> Ran {
        let begun = calls.now();
        if text.len() > MAX_SCRIPT_BYTES {
            let err = "bash: the script is too large\n".to_owned();
            return Ran { out: String::new(), err, code: 2, took: std::time::Duration::ZERO };
        }
        let mut shell = Shell::new(calls, arguments.to_vec());
        for (name, value) in [
            ("HOME", "/root"),
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("PWD", "/root"),
            ("USER", "root"),
        ] {
            shell.variables.insert(name.to_owned(), value.to_owned());
        }
        shell.variables.extend(variables.iter().cloned());
        let io = Shell::io();
        let flow = shell.inner(text, &io);
        let mut code = shell.status;
        let (out, mut err) = (shell.close(0), shell.close(1));
        if flow == Flow::Killed {
            err.extend_from_slice(b"Killed\n");
            code = code.max(1);
        }
        let took = shell.calls.now().since(begun);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { out: text(out), err: text(err), code, took }
    }
}
