//! A command as a human has to see it before deciding: nothing in it is invisible, out of sight or dressed as something
//! else. What is judged, digested and run stays the exact text.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use crate::text::odd::is_odd;

/// How many spaces in a row are shown as they are.
const MAX_SPACES: usize = 8;

/// How many notes are made of one text.
const MAX_NOTES: usize = 5;

/// Letters of scripts with letters that look like Latin ones.
static OTHER_SCRIPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"[\p{L}&&[^\p{Latin}\p{Common}\p{Inherited}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\p{Thai}]]",
    )
    .ok()
});

/// Letters and the ASCII letters that they look like.
const LOOKALIKES: [(&str, &str); 8] = [
    ("асеорхуѕіјһԁԛԝԍӏѵьгпзтмкв", "aceopxysijhdqwglvbrn3tmkb"),
    ("АВСЕНІЈКМОРЅТХУԌԜѴԁӀЗҮ", "ABCEHIJKMOPSTXYGWVdI3Y"),
    ("αγεηικνορτυχωϲϳ", "aysnikvoptuxwcj"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹϺ", "ABEZHIKMNOPTYXCM"),
    ("աօսոզհցյքտոԱՍՕՏԼ", "wounqhgjpuoUUOSL"),
    ("ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃᎡ", "ABCDEHJKLMPRSTVWZR"),
    ("ɑɡıſʀʟɴƽ", "agisrln5"),
    ("ⲟⲣⲥⲭⲏⲕⲙ", "opcxhkm"),
];

/// Spells out what nobody can see or tell apart, and folds long runs of spaces with their count. Line breaks stay.
///
/// A backslash in front of something spelled, or of something that seems so, is doubled: an odd number of them spells.
///
/// ```
/// assert_eq!(ghost_shell::visible("a\u{3164}b"), r"a\u{3164}b");
/// assert_eq!(ghost_shell::visible(&format!("a{}b", " ".repeat(3000))), "a ⟨3000 spaces⟩ b");
/// ```
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let run = rest.chars().take_while(|next| *next == char).count();
        let behind = rest.get(run * char.len_utf8()..).unwrap_or_default();
        if char == ' ' && run > MAX_SPACES {
            // Writing to a string cannot fail.
            let _ = write!(out, " ⟨{run} spaces⟩ ");
        } else if char == '\\' {
            let next = behind.chars().next();
            let mistaken = behind.starts_with("u{") || next.is_some_and(is_hidden);
            out.extend(std::iter::repeat_n('\\', if mistaken { run * 2 } else { run }));
        } else if is_hidden(char) {
            (0..run).for_each(|_| out.extend(char.escape_unicode()));
        } else {
            out.extend(std::iter::repeat_n(char, run));
        }
        rest = behind;
    }
    out
}

/// Tells whether a character shows nothing, moves the cursor, changes how others are drawn, or is a sign outside ASCII.
fn is_hidden(char: char) -> bool {
    if char.is_ascii() { char.is_control() && char != '\n' } else { is_odd(char) }
}

/// Says of each word that is dressed as another one what it is made of.
///
/// ```
/// let notes = ghost_shell::lookalikes("cat /etc/p\u{430}sswd");
/// assert_eq!(notes, ["`pаsswd` is not `passwd`: а is U+0430"]);
/// ```
#[must_use]
pub fn lookalikes(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut notes: Vec<String> = Vec::new();
    for word in text.split(|char: char| !(char.is_alphanumeric() || char == '_' || char == '-')) {
        if notes.len() >= MAX_NOTES {
            break;
        }
        if !word.is_ascii()
            && let Some(note) = note(word)
            && !notes.contains(&note)
        {
            notes.push(note);
        }
    }
    notes
}

/// Says what a word is made of; `None` where it is an ordinary word of its language.
fn note(word: &str) -> Option<String> {
    let read: Vec<(char, Option<char>)> = word.chars().map(|char| (char, latin(char))).collect();
    let disguised = read.iter().all(|(_, latin)| latin.is_some());
    let latin_letters = word.chars().any(|char| char.is_ascii_alphabetic());
    let other = OTHER_SCRIPT.as_ref().is_none_or(|other| other.is_match(word));
    let mixed = latin_letters && other;
    if !disguised && !mixed {
        return None;
    }
    let mut strange: Vec<String> = Vec::new();
    for (char, _) in read.iter().filter(|(char, _)| !char.is_ascii()) {
        let line = format!("{char} is U+{:04X}", u32::from(*char));
        if !strange.contains(&line) && strange.len() < 4 {
            strange.push(line);
        }
    }
    let strange = strange.join(", ");
    // Words are cut so that one of them cannot push the question out of sight.
    let short = |chars: &mut dyn Iterator<Item = char>| chars.take(60).collect::<String>();
    let shown = short(&mut word.chars());
    Some(if disguised {
        let reads = short(&mut read.iter().filter_map(|(_, latin)| *latin));
        format!("`{shown}` is not `{reads}`: {strange}")
    } else {
        format!("`{shown}` mixes alphabets: {strange}")
    })
}

/// Returns the ASCII letter that a letter resembles, itself if it is one.
fn latin(char: char) -> Option<char> {
    let code = u32::from(char);
    let letter = |index: u32| {
        let index = u8::try_from(index % 52).ok()?;
        Some(char::from(if index < 26 { b'A' + index } else { b'a' + index - 26 }))
    };
    match code {
        0..=0x7f => Some(char),
        // Wide forms, and the alphabets of mathematics.
        0xff01..=0xff5e => char::from_u32(code - 0xff01 + 0x21),
        0x1d400..=0x1d6a3 => letter(code - 0x1d400),
        0x1d7ce..=0x1d7ff => char::from_digit((code - 0x1d7ce) % 10, 10),
        _ => LOOKALIKES.iter().find_map(|(strange, plain)| {
            let at = strange.chars().position(|strange| strange == char)?;
            plain.chars().nth(at)
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blank_fillers_are_spelled_like_other_invisible_characters() {
        for filler in
            ['\u{3164}', '\u{115f}', '\u{1160}', '\u{ffa0}', '\u{2800}', '\u{200b}', '\u{ad}', '\u{a0}']
        {
            assert_eq!(visible(&format!("a{filler}b")), format!("a\\u{{{:x}}}b", u32::from(filler)));
        }
        assert_eq!(visible("a\tb\rc\nd\u{1b}"), "a\\u{9}b\\u{d}c\nd\\u{1b}");
    }

    #[test]
    fn what_only_seems_spelled_is_distinguished() {
        assert_eq!(visible(r"\u{3164}"), r"\\u{3164}");
        assert_eq!(visible("\\\u{3164}"), r"\\\u{3164}");
        assert_eq!(visible(r"grep 'a\|b' C:\dir"), r"grep 'a\|b' C:\dir");
    }

    #[test]
    fn long_runs_of_spaces_are_folded_and_short_ones_are_not() {
        assert_eq!(visible("a        b"), "a        b");
        assert_eq!(
            visible(&format!("ss -tln{}; rm -rf x", " ".repeat(3000))),
            "ss -tln ⟨3000 spaces⟩ ; rm -rf x"
        );
        // The brackets of a fold cannot be written by the command itself.
        assert_eq!(visible("⟨9 spaces⟩"), r"\u{27e8}9 spaces\u{27e9}");
    }

    #[test]
    fn a_word_dressed_as_another_one_gets_a_note() {
        assert_eq!(lookalikes("echo pаssword"), ["`pаssword` is not `password`: а is U+0430"]);
        assert_eq!(
            lookalikes("ping сосоа.example"),
            ["`сосоа` is not `cocoa`: с is U+0441, о is U+043E, а is U+0430"]
        );
        assert_eq!(lookalikes("ｃurl http://h"), ["`ｃurl` is not `curl`: ｃ is U+FF43"]);
        assert_eq!(lookalikes("x рroжa"), ["`рroжa` mixes alphabets: р is U+0440, ж is U+0436"]);
        assert_eq!(lookalikes("cat 𝐩asswd"), ["`𝐩asswd` is not `passwd`: 𝐩 is U+1D429"]);
    }

    #[test]
    fn words_of_any_language_get_none() {
        for text in [
            "ping münchen.example",
            "dig 日本.example",
            "Привет мир",
            "Ελλάδα",
            "echo A股 ไทยabc",
            "café",
            "plain",
        ] {
            assert_eq!(lookalikes(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn each_look_alike_has_its_letter() {
        for (strange, plain) in LOOKALIKES {
            assert_eq!(strange.chars().count(), plain.chars().count(), "{strange}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_holds_nothing_hidden(text in r"([\\u{}3164 \x00-\x20ㅤ⟨а]|\PC){0,60}") {
            let shown = visible(&text);
            let hidden = shown.chars().find(|char| is_hidden(*char) && !matches!(char, '⟨' | '⟩'));
            prop_assert_eq!(hidden, None);
            prop_assert!(!shown.contains(&" ".repeat(MAX_SPACES + 1)));
            let _ = lookalikes(&text);
        }
    }
}
