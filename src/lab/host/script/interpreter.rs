//! The shell itself.

use super::call::Calls;
use crate::lab::host::port::Ran;

/// A shell without a process.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::lab::host) struct Interpreter;

impl Interpreter {
    /// Runs a script to its end.
    pub(in crate::lab::host) fn run(
        self,
        text: &str,
        arguments: &[String],
        variables: &[(String, String)],
        calls: &mut dyn Calls,
    ) -> Ran {
        let _ = (arguments, variables);
        let begun = calls.now();
        let (mut out, mut err, mut code) = (String::new(), String::new(), 0);
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let argv: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let called = calls.call(&argv, "");
            out.push_str(&called.out);
            err.push_str(&called.err);
            code = called.code;
        }
        Ran { out, err, code, took: calls.now().since(begun) }
    }
}
