//! The shells, the programs that they find, and the folder that they run in.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ghost_shell::Policy;
use tempfile::TempDir;

use super::setting;

/// Programs that a shell may run itself, so that no stub records them.
pub(super) const BUILTINS: [&str; 6] = ["command", "echo", "printf", "true", "type", "which"];

/// Names in the folder: what a pattern stands for is an option, an operator or a word of a program.
const PLANTED: [&str; 12] = [
    "-Z",
    ";",
    "--server=127.0.0.1",
    "-Xlua_script:x",
    "flush",
    "a",
    "b",
    "ab",
    "a1",
    "x y",
    "-1Xlua",
    "=ls",
];

/// How a shell gets its texts.
enum Feed {
    /// As words behind `-c` and this line, which runs each with `eval`.
    Words(&'static str),
    /// Line by line on its input, as at a prompt.
    Lines,
}

pub(super) struct Shell {
    pub(super) name: &'static str,
    program: &'static str,
    arguments: &'static [&'static str],
    feed: Feed,
    /// Prints the names that the shell runs itself.
    builtins: &'static str,
}

const EVAL: &str = "N=0; for t do N=$((N+1)); export N; (eval \"$t\"); done";
const EVAL_FISH: &str =
    "functions -e ls grep; set -gx N 0; for t in $argv; set N (math $N + 1); eval $t; end";
const ZSH_NAMES: &str = "print -l ${(k)builtins} ${(k)reswords}";

static SHELLS: [Shell; 10] = [
    Shell {
        name: "bash",
        program: "bash",
        arguments: &[],
        feed: Feed::Words(EVAL),
        builtins: "compgen -b; compgen -k",
    },
    Shell {
        name: "bash with options",
        program: "bash",
        arguments: &["-O", "extglob", "-O", "nullglob", "-O", "dotglob", "-O", "nocaseglob"],
        feed: Feed::Words(EVAL),
        builtins: "",
    },
    Shell {
        name: "bash at a prompt",
        program: "bash",
        arguments: &["--norc", "--noprofile", "-i"],
        feed: Feed::Lines,
        builtins: "",
    },
    Shell { name: "dash", program: "dash", arguments: &[], feed: Feed::Words(EVAL), builtins: "" },
    Shell {
        name: "ksh",
        program: "ksh",
        arguments: &[],
        feed: Feed::Words(EVAL),
        builtins: "builtin | grep -v /",
    },
    Shell {
        name: "busybox sh",
        program: "busybox",
        arguments: &["sh"],
        feed: Feed::Words(EVAL),
        builtins: "",
    },
    Shell { name: "zsh", program: "zsh", arguments: &["-f"], feed: Feed::Words(EVAL), builtins: ZSH_NAMES },
    Shell {
        name: "zsh with options",
        program: "zsh",
        arguments: &[
            "-f",
            "-o",
            "extendedglob",
            "-o",
            "magicequalsubst",
            "-o",
            "rcquotes",
            "-o",
            "braceccl",
            "-o",
            "nullglob",
            "-o",
            "kshglob",
            "-o",
            "globdots",
            "-o",
            "rcexpandparam",
            "-o",
            "cshjunkiehistory",
        ],
        feed: Feed::Words(EVAL),
        builtins: "",
    },
    Shell {
        name: "zsh at a prompt",
        program: "zsh",
        arguments: &["-f", "-i"],
        feed: Feed::Lines,
        builtins: "",
    },
    Shell {
        name: "fish",
        program: "fish",
        arguments: &["-N"],
        feed: Feed::Words(EVAL_FISH),
        builtins: "builtin -n",
    },
];

/// Finds a program. The shells and what starts them are no stubs.
fn find(program: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin"].iter().map(|folder| Path::new(folder).join(program)).find(|path| path.exists())
}

fn is_excused(program: &str) -> bool {
    setting("GHOST_TEST_WITHOUT").split(',').any(|word| word.trim() == program)
}

impl Shell {
    /// Lists the shells to compare. A missing one fails the test, unless a setting says that it may be missing.
    pub(super) fn present() -> Vec<&'static Self> {
        let wanted = || SHELLS.iter().filter(|shell| !is_excused(shell.program));
        let missing: BTreeSet<&str> =
            wanted().map(|shell| shell.program).filter(|name| find(name).is_none()).collect();
        assert!(
            missing.is_empty(),
            "{missing:?} not installed; GHOST_TEST_WITHOUT=NAME,… runs the tests without"
        );
        wanted().collect()
    }
}

/// A folder with planted names, stubs for all programs of the policy, and a record of their words.
pub(super) struct Place {
    folder: TempDir,
}

impl Place {
    pub(super) fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for name in ["work", "stubs", "home"] {
            fs::create_dir(place.path(name)).unwrap();
        }
        for name in PLANTED {
            fs::write(place.path("work").join(name), "").unwrap();
        }
        let stub = place.path("stub");
        let record = place.path("record");
        // One `write` each, so that stubs of one pipeline do not mix.
        let text = format!(
            "#!/bin/dash\nprintf '%s\\0' \"${{N:-0}}\" \"$#\" \"${{0##*/}}\" \"$@\" >>{}\n",
            record.display()
        );
        fs::write(&stub, text).unwrap();
        fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
        for name in programs() {
            fs::hard_link(&stub, place.path("stubs").join(name)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lists the files that a text could have made.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let list = |name: &str| fs::read_dir(self.path(name)).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<PathBuf> = list("work").chain(list("stubs")).collect();
        all.sort();
        all
    }

    fn command(&self, shell: &Shell) -> Command {
        let program = find(shell.program).unwrap();
        let mut command = Command::new(find("dash").unwrap());
        // A shell does not wait for every program of a pipeline: each holds descriptor 9 until it ends.
        command.args(["-c", "exec 9>&1 >/dev/null; exec \"$@\"", "sh"]);
        if !is_excused("unshare") {
            // A network that leads nowhere.
            let unshare = find("unshare");
            assert!(unshare.is_some(), "missing: unshare; GHOST_TEST_WITHOUT=unshare runs the test without");
            command.args(unshare).args(["--map-root-user", "--net", "--"]);
        }
        command.arg(program);
        command
            .args(shell.arguments)
            .current_dir(self.path("work"))
            .env_clear()
            .env("PATH", self.path("stubs"))
            .env("HOME", self.path("home"))
            .env("TERM", "dumb")
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }

    /// Runs texts one after another. Returns what programs got, with the number of the text.
    pub(super) fn run(&self, shell: &Shell, texts: &[&str]) -> Vec<(usize, Vec<String>)> {
        let record = self.path("record");
        fs::write(&record, "").unwrap();
        let mut command = self.command(shell);
        match shell.feed {
            Feed::Words(line) => {
                command.stdin(Stdio::null()).args(["-c", line]);
                // Of the words behind the line fish takes the first as one of them.
                command.args((shell.program != "fish").then_some("sh")).args(texts);
                command.output().unwrap();
            }
            Feed::Lines => {
                let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
                let mut input = child.stdin.take().unwrap();
                for (at, text) in texts.iter().enumerate() {
                    writeln!(input, "export N={}\n{text}", at + 1).unwrap();
                }
                drop(input);
                child.wait_with_output().unwrap();
            }
        }
        let recorded = fs::read_to_string(&record).unwrap();
        let mut fields = recorded.split_terminator('\0');
        let mut all = Vec::new();
        while let (Some(number), Some(count)) = (fields.next(), fields.next()) {
            let count: usize = count.parse().unwrap();
            let words = fields.by_ref().take(count + 1).map(str::to_owned).collect();
            // What a shell starts for itself has no number.
            all.extend((number != "0").then(|| (number.parse().unwrap(), words)));
        }
        all
    }

    /// Lists the names that a shell runs itself.
    pub(super) fn builtins(&self, shell: &Shell) -> Vec<String> {
        if shell.builtins.is_empty() {
            return Vec::new();
        }
        let mut command = self.command(shell);
        let line = format!("{{ {}; }} >&9", shell.builtins);
        let line = if shell.program == "fish" { format!("begin; {}; end >&9", shell.builtins) } else { line };
        command.env("PATH", "/usr/bin:/bin").args(["-c", &line]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let names: Vec<String> =
            String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect();
        assert!(names.len() > 20, "{}: {names:?}", shell.name);
        names
    }
}

/// Lists the programs that examples of the policy name, and those by which a text would do something.
fn programs() -> BTreeSet<String> {
    let policy = Policy::builtin().unwrap();
    let examples =
        policy.examples().iter().filter_map(|example| ghost_shell::plain_commands(&example.command));
    let words = examples.flatten().filter_map(|words| words.into_iter().next());
    let more = ["sort", "wc", "head", "touch", "flush", "ls", "id", "a", "b", "ab"].map(str::to_owned);
    words.filter(|name| !name.contains('/') && !name.is_empty()).chain(more).collect()
}
