//! The files that a pattern matches, looked up right before the command runs.
//!
//! Goes in: a ruling that is SAFE by its words. Comes out: the same ruling with the files in the place of each pattern, or one
//! that is stricter. Never: a file that the same command could not have named. A pattern that matches nothing stays as it is
//! written, as in a shell.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use crate::policy::{Policy, shorten};
use crate::{Fill, Impact, List, Ruling, Stage, Tier, Verdict};

/// How many files one pattern may match unasked: as many as a person reads over.
const MAX_FILES: usize = 50;

/// Why a command is stricter than its words.
enum Stricter {
    Asks(String),
    /// With the files named it never runs.
    Never(Box<Ruling>),
}

/// Puts the files that match in the place of each pattern.
pub(super) fn expand(mut ruling: Ruling, policy: &Policy) -> Ruling {
    let Some(list) = &mut ruling.list else { return ruling };
    match expand_list(list, policy) {
        None => ruling,
        Some(Stricter::Asks(what)) => Ruling {
            verdict: Verdict::Risky,
            rule: Ruling::OTHER_FILES.into(),
            reason: what.into(),
            impact: Some(Impact::Change),
            ..ruling
        },
        Some(Stricter::Never(never)) => {
            Ruling { verdict: Verdict::Blocked, tier: Tier::Blocked, argv: None, pipeline: None, ..*never }
        }
    }
}

fn expand_list(list: &mut List, policy: &Policy) -> Option<Stricter> {
    let mut first = None;
    for stage in list.pipelines.iter_mut().flat_map(|pipeline| &mut pipeline.stages) {
        for fill in stage.fills.values_mut() {
            if let Fill::Output(output) = fill {
                first = first.or(expand_list(output, policy));
            }
        }
        if stage.fills.values().any(|fill| *fill == Fill::Pattern) {
            first = first.or(expand_stage(stage, policy));
        }
    }
    first
}

fn expand_stage(stage: &mut Stage, policy: &Policy) -> Option<Stricter> {
    let mut expanded = Stage { argv: Vec::new(), fills: std::collections::BTreeMap::new(), ..stage.clone() };
    let (mut first, mut found_any) = (None, false);
    for (at, word) in stage.argv.iter().enumerate() {
        let fill = stage.fills.get(&at);
        let files = match fill {
            Some(Fill::Pattern) => matches(word),
            Some(Fill::Output(_)) | None => Vec::new(),
        };
        if files.is_empty() {
            fill.cloned().map(|fill| expanded.fills.insert(expanded.argv.len(), fill));
            expanded.argv.push(word.clone());
            continue;
        }
        found_any = true;
        if files.len() > MAX_FILES {
            let what = format!(
                "`{}` matches {} files, and {MAX_FILES} are read unasked",
                shorten(word),
                files.len()
            );
            first = first.or(Some(Stricter::Asks(what)));
        }
        for file in files {
            match file.into_string() {
                Ok(file) => {
                    expanded.profile.read.push(file.clone());
                    expanded.argv.push(file);
                }
                Err(_) => {
                    let what = format!("`{}` matches a file whose name is no text", shorten(word));
                    first = first.or(Some(Stricter::Asks(what)));
                }
            }
        }
    }
    if !found_any {
        return None;
    }
    // A name that begins like an option would never be one: a match begins with `/`.
    if let Some(at) = policy.first_operand(&expanded.argv) {
        expanded.argv.insert(at, "--".to_owned());
        let behind = expanded.fills.split_off(&at);
        expanded.fills.extend(behind.into_iter().map(|(place, fill)| (place + 1, fill)));
    }
    let judged = policy.classify(&expanded.to_string());
    *stage = expanded;
    match judged.verdict {
        Verdict::Safe => first,
        Verdict::Risky => {
            let what = format!("with the files that match it asks: {}", judged.reason);
            first.or(Some(Stricter::Asks(what)))
        }
        Verdict::Blocked => Some(Stricter::Never(Box::new(judged))),
    }
}

/// Lists the files that a pattern matches, sorted by their bytes. A folder that cannot be read has none, as to a shell.
fn matches(pattern: &str) -> Vec<OsString> {
    let Some((folder, last)) = pattern.rsplit_once('/') else { return Vec::new() };
    let Some((front, back)) = last.split_once('*') else { return Vec::new() };
    let fits = |name: &OsString| {
        let name = name.as_bytes();
        // `*` matches no point at the beginning.
        name.len() >= front.len() + back.len()
            && name.starts_with(front.as_bytes())
            && name.ends_with(back.as_bytes())
            && !name.starts_with(b".")
    };
    let entries = fs::read_dir(format!("{folder}/")).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).filter(fits).collect();
    names.sort();
    let path = |name: OsString| {
        let mut path = OsString::from(format!("{folder}/"));
        path.push(name);
        path
    };
    names.into_iter().map(path).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// A policy that reads the reports in a folder, and a ruling on `text`, in which `DIR` is the folder.
    fn expanded(folder: &Path, text: &str) -> Ruling {
        let mut policy = Policy::builtin().unwrap().clone();
        policy.files.captures_in(folder.to_str().unwrap());
        let ruling = policy.classify(&text.replace("DIR", folder.to_str().unwrap()));
        assert_eq!(ruling.verdict, Verdict::Safe, "{text}: {}", ruling.reason);
        expand(ruling, &policy)
    }

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| fs::write(folder.path().join(name), "x\n").unwrap());
        folder
    }

    fn written(ruling: &Ruling, folder: &Path) -> String {
        ruling.list.as_ref().unwrap().to_string().replace(folder.to_str().unwrap(), "DIR")
    }

    #[test]
    fn the_files_that_match_stand_in_the_place_of_the_pattern_sorted_behind_two_dashes() {
        let place =
            folder(&["b_comparison.md", "a_comparison.md", ".c_comparison.md", "B_comparison.md", "b.md"]);
        for (text, list) in [
            ("cat DIR/*_comparison.md", "cat -- DIR/B_comparison.md DIR/a_comparison.md DIR/b_comparison.md"),
            ("grep -i x DIR/b*_comparison.md | wc -l", "grep -i -- x DIR/b_comparison.md | wc -l"),
            ("cat DIR/a*_comparison.md -n", "cat DIR/a_comparison.md -n"),
            ("cat -- DIR/a*_comparison.md", "cat -- DIR/a_comparison.md"),
            ("cat DIR/none*_comparison.md", "cat DIR/none*_comparison.md"),
            (
                "wc -l <(cat DIR/a*_comparison.md) DIR/b*_comparison.md <(ip route)",
                "wc -l -- <(cat -- DIR/a_comparison.md) DIR/b_comparison.md <(ip route)",
            ),
            ("awk '{print}' DIR/a*_comparison.md", "awk -- '{print}' DIR/a_comparison.md"),
        ] {
            let ruling = expanded(place.path(), text);
            assert_eq!(ruling.verdict, Verdict::Safe, "{text}: {}", ruling.reason);
            assert_eq!(written(&ruling, place.path()), list, "{text}");
        }
        let ruling = expanded(place.path(), "cat DIR/*_comparison.md");
        let read: BTreeSet<_> = ruling.profiles().iter().flat_map(|profile| profile.read.clone()).collect();
        assert_eq!(read.len(), 3, "each match is held against links: {read:?}");
    }

    #[test]
    fn more_files_than_a_person_reads_over_and_odd_names_ask() {
        let names: Vec<String> = (0..51).map(|at| format!("{at}_comparison.md")).collect();
        let place = folder(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let ruling = expanded(place.path(), "cat DIR/*_comparison.md");
        assert_eq!((ruling.verdict, ruling.rule.as_ref()), (Verdict::Risky, Ruling::OTHER_FILES));
        assert!(ruling.reason.contains("matches 51 files") && ruling.only_reads(), "{}", ruling.reason);
        fs::remove_file(place.path().join("7_comparison.md")).unwrap();
        assert_eq!(expanded(place.path(), "cat DIR/*_comparison.md").verdict, Verdict::Safe);
        for name in ["a\nb_comparison.md", "a[b]_comparison.md", "a{b_comparison.md", "a?_comparison.md"] {
            let place = folder(&[name]);
            let ruling = expanded(place.path(), "cat DIR/*_comparison.md");
            assert_eq!(
                (ruling.verdict, ruling.rule.as_ref()),
                (Verdict::Risky, Ruling::OTHER_FILES),
                "{name:?}"
            );
        }
    }
}
