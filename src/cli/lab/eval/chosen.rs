//! Which cases are investigated.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

use ghost_lab::case::{CASES, Case, Profile, drawn, embedded, names, random};
use ghost_tools::input::text;
use ghost_tools::print::Hinted;

/// The largest case file, and the largest estate beside one.
const MAX_CASE_BYTES: usize = 1 << 20;
const MAX_ESTATE_BYTES: usize = 64 << 20;

/// A case, before it is injected.
pub(super) struct Chosen {
    /// The text of its file.
    pub(super) text: String,
    pub(super) case: Case,
    /// The estate that it brings.
    pub(super) estate: Option<Value>,
    /// As what it was drawn.
    pub(super) profile: Option<Profile>,
}

/// Cases that are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) count: u64,
    /// The number of the first one.
    pub(super) first: u64,
    pub(super) seed: u64,
    /// Whole estates of this kind; faults on the usual estate where none is named.
    pub(super) profile: Option<Profile>,
}

/// Finds the cases that were named, in order; all that come with the program where none is.
pub(super) fn chosen(named: &[String], draw: Option<Draw>) -> anyhow::Result<Vec<Chosen>> {
    let mut all = Vec::new();
    if named.is_empty() && draw.is_none() {
        for (name, text) in CASES {
            all.push(read(name, text.to_owned(), None)?);
        }
    }
    for name in named {
        match embedded(name) {
            Some(text) => all.push(read(name, text.to_owned(), None)?),
            None => files(name, &mut all)?,
        }
    }
    if let Some(Draw { count, first, seed, profile }) = draw {
        for number in (first..).take(usize::try_from(count).unwrap_or(usize::MAX)) {
            let name = format!("case {number} of seed {seed}");
            let Some(profile) = profile else {
                all.push(read(&name, random(seed, number), None)?);
                continue;
            };
            let own = drawn(profile, seed, number);
            let (estate, profile) = (Some(own.estate), Some(own.profile));
            all.push(Chosen { estate, profile, ..read(&name, own.text, None)? });
        }
    }
    Ok(all)
}

fn files(named: &str, all: &mut Vec<Chosen>) -> anyhow::Result<()> {
    let path = Path::new(named);
    if path.is_dir() {
        let entries = std::fs::read_dir(path).with_context(|| format!("reading {named}"))?;
        let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        found.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
        found.sort();
        if found.is_empty() {
            let error = anyhow::anyhow!("there is no case in {named}");
            return Err(Hinted::new(error, "case files end in .toml").into());
        }
        return found.iter().try_for_each(|path| file(path).map(|case| all.push(case)));
    }
    if !path.exists() && !named.contains(['/', '.']) {
        let names: Vec<&str> = names().collect();
        let hint = format!("there is {}; or give a case file or a folder of them", names.join(", "));
        return Err(Hinted::new(anyhow::anyhow!("there is no case `{named}`"), hint).into());
    }
    all.push(file(path)?);
    Ok(())
}

fn file(path: &Path) -> anyhow::Result<Chosen> {
    read(&path.display().to_string(), text(path, MAX_CASE_BYTES)?, path.parent())
}

fn read(named: &str, text: String, folder: Option<&Path>) -> anyhow::Result<Chosen> {
    let case = Case::read(&text).map_err(|problems| {
        let hint = problems.hint().to_owned();
        Hinted::new(anyhow::Error::new(problems).context(format!("reading {named}")), hint)
    })?;
    let estate = match (&case.estate, folder) {
        (Some(file), Some(folder)) => {
            let path = folder.join(file);
            let text = ghost_tools::input::text(&path, MAX_ESTATE_BYTES)?;
            let estate = serde_json::from_str(&text);
            Some(estate.with_context(|| format!("reading the estate {}", path.display()))?)
        }
        (Some(_) | None, _) => None,
    };
    Ok(Chosen { text, case, estate, profile: None })
}
