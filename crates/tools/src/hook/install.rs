//! `ghost hook install`.

use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::call::Client;
use super::entry::into_claude;
use super::line::HookLine;
use super::run::answer_timeout;
use super::target::{Scope, Target};
use super::toml_text::into_codex;
use crate::config::read_small;
use crate::global::Global;
use crate::print::{Hinted, line, note};
use crate::setup::Setup;
use ghost_base::write_private;

/// What the client gives its hook, in seconds: the hook's own end has to come first, on a machine that is slow, too.
const CLIENT_TIMEOUT: u64 = 120;

/// The arguments of `ghost hook install`.
#[derive(Debug, Args)]
#[command(
    after_help = "The settings of the administrator are written, which no project can switch off, unless --user or --project says otherwise. The difference is shown first; what else stands there stays, and a file that cannot be read is left alone. Where standard input is a terminal it asks before it writes.\n\nExamples:\n  ghost hook install claude --print\n  sudo ghost hook install claude --config /etc/ghost.toml --data-dir /var/lib/ghost\n  ghost hook install codex --user\n  ghost hook install claude --project ."
)]
pub(super) struct Arguments {
    /// The client.
    client: Installable,
    /// Write the settings of this project, which anybody who can change the project can switch off.
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    project: Option<PathBuf>,
    /// Write your own settings, which a project can switch off.
    #[arg(long)]
    user: bool,
    /// The folder in place of `/etc`, to prepare an image.
    #[arg(long, value_name = "DIR", default_value = "/etc")]
    etc: PathBuf,
    /// Print the settings as they would be, and write nothing.
    #[arg(long)]
    print: bool,
}

/// A client that has settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Installable {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let setup = Setup::of_line(global)?;
    let client = match arguments.client {
        Installable::Claude => Client::Claude,
        Installable::Codex => Client::Codex,
    };
    let scope = match (&arguments.project, arguments.user) {
        (Some(folder), _) => Scope::Project(std::path::absolute(folder)?),
        (None, true) => Scope::User,
        (None, false) => Scope::Managed,
    };
    let home = setup.environment.path("HOME");
    let target = Target::new(client, scope, &arguments.etc, home.as_deref())
        .ok_or_else(|| anyhow::anyhow!("there is no home folder to find your settings in"))?;
    let before = text_of(&target.path)?;
    let after = settings(&setup, &target, before.as_deref().unwrap_or_default())?;
    if arguments.print {
        return line(after.trim_end()).map(|()| 0);
    }
    if let Some(weakness) = target.weakness() {
        note(&format!("warning: {weakness}"));
    }
    let path = target.path.display();
    if before.as_deref() == Some(&after) {
        return line(&format!("{path} is as it has to be; `ghost hook doctor` proves it")).map(|()| 0);
    }
    line(&format!("--- {path}\n+++ {path}"))?;
    line(difference(before.as_deref().unwrap_or_default(), &after).trim_end())?;
    if io::stdin().is_terminal() && !agreed()? {
        return line("nothing was written").map(|()| 0);
    }
    write(&target, &after).with_context(|| format!("writing {path}")).map_err(|error| {
        Hinted::new(error, "the administrator's settings take root; --user and --project do not hold as much")
    })?;
    line(&format!("{path} written; `ghost hook doctor` proves that it holds"))?;
    Ok(0)
}

/// Returns what a file holds; nothing where there is none.
pub(super) fn text_of(path: &Path) -> anyhow::Result<Option<String>> {
    match path.try_exists() {
        Ok(false) => Ok(None),
        _ => Ok(Some(read_small(path).with_context(|| format!("reading {}", path.display()))?)),
    }
}

fn settings(setup: &Setup, target: &Target, before: &str) -> anyhow::Result<String> {
    let program = std::env::current_exe().context("finding this program")?;
    let config = setup.file.as_deref().map(std::path::absolute).transpose()?;
    // The administrator's settings are everybody's: without a folder that was named, each person's own holds their audit.
    let data = match (&target.scope, setup.named_data()) {
        (Scope::Managed, named) => named.map(std::path::absolute).transpose()?,
        (Scope::User | Scope::Project(_), _) => Some(std::path::absolute(setup.data()?)?),
    };
    let command = HookLine { program: program.clone(), client: target.client, config, data }.text();
    let timeout = CLIENT_TIMEOUT.max(answer_timeout(setup, setup.config.hook.approve).as_secs() * 5 / 4);
    let managed = target.scope == Scope::Managed;
    let after = match target.client {
        Client::Codex => {
            let folder = program.parent().map(|folder| folder.to_string_lossy().into_owned());
            into_codex(before, &command, timeout, folder.as_deref().filter(|_| managed))
        }
        Client::Claude | Client::Generic => into_claude(before, &command, timeout, managed),
    };
    let about =
        |error| anyhow::Error::new(error).context(format!("{} is left as it is", target.path.display()));
    Ok(after.map_err(|error| {
        Hinted::new(about(error), "mend the file, or --print what belongs there and put it in by hand")
    })?)
}

fn agreed() -> anyhow::Result<bool> {
    let mut out = io::stdout().lock();
    out.write_all(b"write it? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Writes the file whole, through a link that stands there; everybody who runs the client has to be able to read the administrator's.
fn write(target: &Target, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(&target.path).unwrap_or_else(|_| target.path.clone());
    let mode = match fs::metadata(&path) {
        Ok(there) => there.permissions().mode() & 0o777,
        Err(_) if target.scope == Scope::Managed => 0o644,
        Err(_) => 0o600,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    write_private(&path, text.as_bytes())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(mode))
}

/// Shows what changes, line by line.
fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    // The longest common lines, counted from the end.
    let mut common = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    let at = |common: &[Vec<u32>], i: usize, j: usize| {
        common.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0)
    };
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let longest = match old.get(i) == new.get(j) {
                true => at(&common, i + 1, j + 1) + 1,
                false => at(&common, i + 1, j).max(at(&common, i, j + 1)),
            };
            if let Some(cell) = common.get_mut(i).and_then(|row| row.get_mut(j)) {
                *cell = longest;
            }
        }
    }
    let (mut i, mut j, mut out) = (0, 0, String::new());
    loop {
        let (mark, text) = match (old.get(i), new.get(j)) {
            (Some(left), Some(right)) if left == right => {
                (i, j) = (i + 1, j + 1);
                (' ', left)
            }
            (Some(left), right) if right.is_none() || at(&common, i + 1, j) >= at(&common, i, j + 1) => {
                i += 1;
                ('-', left)
            }
            (_, Some(right)) => {
                j += 1;
                ('+', right)
            }
            (_, None) => return out,
        };
        out.push_str(&format!("{mark}{}\n", crate::print::harmless(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_goes_and_what_comes() {
        assert_eq!(difference("a\nb\nc\n", "a\nx\nc\nd\n"), " a\n-b\n+x\n c\n+d\n");
        assert_eq!(difference("", "a\n"), "+a\n");
        assert_eq!(difference("a\n", ""), "-a\n");
    }

    #[test]
    fn a_link_stays_a_link_and_a_mode_stays_a_mode() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.json");
        fs::write(&real, "{}").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        let path = folder.path().join("settings.json");
        std::os::unix::fs::symlink(&real, &path).unwrap();
        write(&Target { client: Client::Claude, scope: Scope::User, path: path.clone() }, "new").unwrap();
        assert!(path.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        let managed =
            Target { client: Client::Claude, scope: Scope::Managed, path: folder.path().join("a/b.json") };
        write(&managed, "x").unwrap();
        assert_eq!(fs::metadata(&managed.path).unwrap().permissions().mode() & 0o777, 0o644);
    }
}
