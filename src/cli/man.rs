//! `ghost man`: the manual pages, one for the program and one for each subcommand.

use std::path::PathBuf;

use clap::Args;

use ghost_tools::print::{Hinted, line};

/// The arguments of `ghost man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ghost man ~/.local/share/man/man1\n  ghost man . && man ./ghost-path.1")]
pub(super) struct Arguments {
    /// The folder to write them to.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, mut root: clap::Command) -> anyhow::Result<u8> {
    root.build();
    let written = std::fs::create_dir_all(&arguments.folder).and_then(|()| {
        let mut count = 0;
        for page in pages(root) {
            page.generate_to(&arguments.folder)?;
            count += 1;
        }
        Ok(count)
    });
    let count: usize = written.map_err(|error| {
        let hint = "name a folder that can be written, as in the examples of --help";
        Hinted::new(anyhow::anyhow!("{}: {error}", arguments.folder.display()), hint)
    })?;
    line(&format!("{count} pages in {}", arguments.folder.display()))?;
    Ok(0)
}

/// Returns the page of a command and those of what is below it.
fn pages(command: clap::Command) -> Vec<clap_mangen::Man> {
    let below: Vec<_> = command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
        .cloned()
        .flat_map(pages)
        .collect();
    let page = clap_mangen::Man::new(command.disable_help_subcommand(true)).manual("Ghost");
    std::iter::once(page).chain(below).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_subcommand_has_a_page_named_after_it() {
        let mut root = crate::cli::root::command();
        root.build();
        let names: Vec<_> = pages(root).iter().map(clap_mangen::Man::get_filename).collect();
        for name in
            ["ghost.1", "ghost-path.1", "ghost-path-collect.1", "ghost-shell-classify.1", "ghost-man.1"]
        {
            assert!(names.iter().any(|page| page == name), "{name} is not among {names:?}");
        }
    }

    #[test]
    fn a_page_shows_options_and_examples() {
        let mut root = crate::cli::root::command();
        root.build();
        let path = pages(root).into_iter().find(|page| page.get_filename() == "ghost-path.1").unwrap();
        let mut text = Vec::new();
        path.render(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for part in ["ghost\\-path", "\\-\\-bundle", "Examples:", "ghost path collect"] {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    }
}
