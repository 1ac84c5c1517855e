//! The words that are judged are the words that real shells see.
#![expect(clippy::indexing_slicing, reason = "shells and texts are numbered here")]

use std::io::Write;
use std::process::{Command, Stdio};

use ghost_shell::{Policy, Verdict};

use crate::random::{Random, is_long, seed, setting};

/// What the texts are made of. It spells no program, no keyword and no `az`.
const PARTS: &[&str] = &[
    "a", "b", "Q", "0", "7", "é", "日", "qq", "-r", "--q=v", "./q", ".", "..", "=", ",", ":", "@", "%", "+",
    "-", "_", "^", "?", "[", "]", "[a]", "[!a-b]", "!", "{", "}", "{}", "{a}", "~", "q a=~", "#", "*", "$",
    "$$", "$a", "${a}", "$(", ")", "(", "`", "'", "''", "'a b'", "\"", "\"\"", "\"a b\"", "\\", "\\\\",
    "\\'", "\\\"", "\\ ", "\\$", "\\`", "\\#", " ", "  ", "\t", ";", "&", "|", "<", ">", "\n",
];

/// Characters that stand for themselves most of the time, so that enough texts are plain.
const QUIET: &[&str] = &[
    "a", "b", "é", "-q", "./q", "=", ",", ".", "?", "[", "]", "{", "}", "'", "'a b'", "\"", "\"a b\"",
    "\\\\", "\\'", "\\\"", "\\ ", "\\a", "''", " ", " ", "\t",
];

fn text(random: &mut Random) -> String {
    let mostly_quiet = random.below(4) != 0;
    let length = 1 + random.below(14);
    (0..length)
        .map(
            |_| {
                if mostly_quiet && random.below(12) != 0 { *random.pick(QUIET) } else { *random.pick(PARTS) }
            },
        )
        .collect()
}

/// Starts every line with its number, so that a text that swallows its neighbor is noticed.
fn script(texts: &[(String, Vec<String>)]) -> String {
    let lines = texts.iter().enumerate().map(|(at, (text, _))| format!("printf '%s\\0' ---M{at} {text}\n"));
    ["set -f\n".to_owned()].into_iter().chain(lines).collect()
}

#[expect(clippy::disallowed_methods, reason = "the shell is what the reader is compared with")]
fn run(shell: &[&str], script: String) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (program, options) = shell.split_first().unwrap();
    let mut child = Command::new(program)
        .args(options)
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap().unwrap();
    output.stdout
}

/// Says where a shell splits otherwise.
fn differences(shell: &[&str], texts: &[(String, Vec<String>)]) -> Vec<String> {
    let output = String::from_utf8_lossy(&run(shell, script(texts))).into_owned();
    let mut seen: Vec<Option<Vec<&str>>> = vec![None; texts.len()];
    let mut at = None;
    for word in output.split_terminator('\0') {
        match word.strip_prefix("---M").and_then(|number| number.parse::<usize>().ok()) {
            Some(number) => {
                at = Some(number);
                seen[number] = Some(Vec::new());
            }
            None => at.and_then(|at| seen[at].as_mut()).unwrap().push(word),
        }
    }
    let differs = |((_, words), seen): &(&(String, Vec<String>), Option<Vec<&str>>)| {
        seen.as_ref().is_none_or(|seen| words != seen)
    };
    texts
        .iter()
        .zip(seen)
        .filter(differs)
        .map(|((text, words), seen)| format!("{text:?}: {words:?} here, {seen:?} in {}", shell[0]))
        .take(5)
        .collect()
}

#[test]
fn words_are_split_as_real_shells_split_them() {
    let random = &mut Random::new(seed("words"));
    let policy = Policy::builtin().unwrap();
    let without = setting("GHOST_TEST_WITHOUT");
    let shells = [&["/bin/bash", "--norc", "--noprofile"][..], &["/bin/dash"][..]]
        .into_iter()
        .filter(|shell| !without.split(',').any(|name| shell[0].ends_with(&format!("/{name}"))))
        .collect::<Vec<_>>();
    for shell in &shells {
        let name = shell[0].rsplit('/').next().unwrap();
        assert!(
            std::path::Path::new(shell[0]).exists(),
            "missing: {name}; GHOST_TEST_WITHOUT={name} skips it"
        );
    }
    let count = if is_long() { 200_000 } else { 5_000 };
    let (mut compared, mut wrong) = (0, Vec::new());
    for _ in 0..count / 500 {
        let plain: Vec<(String, Vec<String>)> = (0..500)
            .map(|_| text(random))
            .filter_map(|text| {
                let words = policy.classify(&text).argv?;
                Some((text, words))
            })
            .collect();
        compared += plain.len();
        wrong.extend(shells.iter().flat_map(|shell| differences(shell, &plain)));
    }
    println!("{count} texts, {compared} of them plain, {} shells", shells.len());
    assert!(compared * 10 > count, "too few texts are plain for the comparison to mean anything: {compared}");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What may stand between the parts of a text. Half of them are nothing, so that the others spell it often enough.
const STRAYS: [&str; 22] = [
    "", "", "", "", "", "", "", "", "", "", "", "''", "{", ",", "{}", "{x}", "{a..b}", "\\}", "'{'", "\"}\"",
    "'{x,y}'", "$','",
];

/// Writes a text so that braces may spell it: parts of it beside others in a list, lists in one another, strays between, quoted or not.
fn braced(random: &mut Random, text: &str, depth: usize) -> String {
    let at = random.below(text.len() + 1);
    let (front, back) = text.split_at(at);
    let part = |random: &mut Random, part: &str| match random.below(7) {
        _ if depth == 0 => part.to_owned(),
        0 => part.to_owned(),
        1 => format!("{{{},x}}", braced(random, part, depth - 1)),
        2 => format!("{{x,{}}}", braced(random, part, depth - 1)),
        3 => format!("{{,{part}}}{}", random.pick(&["", "{,y}"])),
        4 => format!("{{y,{{x,{}}},}}", braced(random, part, depth - 1)),
        5 => format!("{}{part}", random.pick(&STRAYS)),
        _ => braced(random, part, depth - 1),
    };
    format!("{}{}", part(random, front), part(random, back))
}

#[test]
fn a_credential_that_braces_spell_for_bash_is_blocked() {
    if setting("GHOST_TEST_WITHOUT").split(',').any(|name| name == "bash") {
        return;
    }
    const FILE: &str = "/etc/shadow";
    let random = &mut Random::new(seed("braces"));
    let policy = Policy::builtin().unwrap();
    let texts: Vec<(String, Vec<String>)> =
        (0..if is_long() { 100_000 } else { 5_000 }).map(|_| (braced(random, FILE, 2), Vec::new())).collect();
    let output = run(&["/bin/bash", "--norc", "--noprofile"], script(&texts));
    let (mut at, mut spelled) = (0, 0);
    for word in String::from_utf8_lossy(&output).split_terminator('\0') {
        if let Some(number) = word.strip_prefix("---M").and_then(|number| number.parse::<usize>().ok()) {
            at = number;
        } else if word == FILE {
            spelled += 1;
            let line = format!("cat {}", texts[at].0);
            let ruling = policy.classify(&line);
            assert_eq!(ruling.verdict, Verdict::Blocked, "{line}: {}", ruling.rule);
        }
    }
    assert!(spelled * 10 > texts.len(), "only {spelled} of {} spell it", texts.len());
}
