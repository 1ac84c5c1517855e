//! Braces, written out as bash writes them out: lists, ranges of letters, one in another.

/// How many words are written out of one.
const MAX_EXPANDED_WORDS: usize = 256;

/// Braces that are nested deeper are written out like a name, as far as there is room.
const MAX_BRACE_DEPTH: usize = 64;
/// How long a word may be whose braces multiply.
const MAX_BRACED_BYTES: usize = 4096;

/// The length of a range of letters, `a..e`.
const RANGE_BYTES: usize = 4;

/// What stands for a quoted brace or comma while others are written out: Unicode leaves these to programs, for their own use.
const QUOTED: [(char, char); 3] = [('{', '\u{fdd0}'), ('}', '\u{fdd1}'), (',', '\u{fdd2}')];

/// Returns the words that bash makes of one with braces, in their order; itself where they are more than `room`, or than anybody could review.
/// `bare` is where its braces and commas stand that are not quoted; others are letters.
pub(super) fn written_out(word: &str, bare: &[usize], room: usize) -> Vec<String> {
    let hidden = hide_quoted(word, bare);
    let words = spread(&hidden, room);
    if hidden == word {
        return words;
    }
    words.into_iter().map(|word| show_quoted(&word)).collect()
}

fn hide_quoted(word: &str, bare: &[usize]) -> String {
    // Whoever writes the stand-ins themselves has every brace count.
    if word.contains(QUOTED.map(|(_, hidden)| hidden)) {
        return word.to_owned();
    }
    let mut bare = bare.iter().peekable();
    let hide = |(at, char): (usize, char)| {
        if bare.next_if_eq(&&at).is_some() {
            return char;
        }
        QUOTED.iter().find(|(shown, _)| *shown == char).map_or(char, |(_, hidden)| *hidden)
    };
    word.char_indices().map(hide).collect()
}

fn show_quoted(word: &str) -> String {
    let show = |char| QUOTED.iter().find(|(_, hidden)| *hidden == char).map_or(char, |(shown, _)| *shown);
    word.chars().map(show).collect()
}

fn spread(word: &str, room: usize) -> Vec<String> {
    let (mut open, mut words) = (vec![word], Vec::new());
    while let Some(part) = open.pop() {
        // What a list alone names is no more than what stands there.
        if let Some(listed) = alternatives(part) {
            open.extend(listed.into_iter().rev());
            continue;
        }
        match expand(part) {
            (more, true) if part.len() <= MAX_BRACED_BYTES && more.len() <= room => words.extend(more),
            _ => words.push(part.to_owned()),
        }
    }
    // Bash drops a word of which nothing is left.
    words.retain(|word| !word.is_empty());
    words
}

/// Writes out brace expansions, as a shell would: lists, ranges of letters, one in another. What there is room for, and whether that is all.
pub(crate) fn expand(path: &str) -> (Vec<String>, bool) {
    let (mut done, mut whole) = (Vec::new(), true);
    let mut open = vec![path.to_owned()];
    while let Some(word) = open.pop() {
        match one_spread(&word) {
            Some(more) if done.len() + open.len() + more.len() <= MAX_EXPANDED_WORDS => open.extend(more),
            more => {
                whole &= more.is_none();
                done.push(word);
            }
        }
    }
    done.reverse();
    (done, whole)
}

/// Writes out the first brace expansion of a word, if it has one. Reads the word once, however its braces are nested.
fn one_spread(word: &str) -> Option<Vec<String>> {
    let inside = |marks: &[usize], end: usize| word.get(marks.first()? + 1..end);
    // Where each open brace is, and the commas that are its own.
    let mut open: Vec<Vec<usize>> = Vec::new();
    let mut first: Option<(Vec<usize>, usize)> = None;
    for (at, byte) in word.bytes().enumerate() {
        match byte {
            b'{' => open.push(vec![at]),
            // The body of a function in a text of several lines is no list of names: written out, it would be the whole text many times.
            b'\n' => open.clear(),
            b',' => open.last_mut().into_iter().for_each(|marks| marks.push(at)),
            b'}' => {
                let spreads = |marks: &Vec<usize>| {
                    marks.len() > 1
                        || inside(marks, at)
                            .filter(|text| text.len() == RANGE_BYTES)
                            .and_then(range)
                            .is_some()
                };
                // In the outermost one that lists nothing yet it is a letter like any other: bash makes `a}` and `ab` of `a{},b}`.
                if let [outermost] = open.as_slice()
                    && !spreads(outermost)
                {
                    continue;
                }
                if let Some(marks) = open.pop()
                    && spreads(&marks)
                    && first.as_ref().is_none_or(|(earlier, _)| marks.first() < earlier.first())
                {
                    first = Some((marks, at));
                }
            }
            _ => {}
        }
        // What opens later comes later.
        if open.is_empty() && first.is_some() {
            break;
        }
    }
    let (mut marks, end) = first?;
    let (front, back) = (word.get(..*marks.first()?)?, word.get(end + 1..)?);
    let parts: Vec<String> = match marks.len() {
        1 => range(inside(&marks, end)?)?,
        _ => {
            marks.push(end);
            let between = |pair: &[usize]| word.get(pair.first()? + 1..*pair.last()?).map(str::to_owned);
            marks.windows(2).filter_map(between).collect()
        }
    };
    Some(parts.iter().map(|part| format!("{front}{part}{back}")).collect())
}

/// Writes out `a..e`; of numbers no path is made that anybody protects.
fn range(inside: &str) -> Option<Vec<String>> {
    let (first, last) = inside.split_once("..")?;
    let letter =
        |text: &str| text.chars().next().filter(|char| text.len() == 1 && char.is_ascii_alphabetic());
    let (first, last) = (letter(first)?, letter(last)?);
    let (low, high) = if first <= last { (first, last) } else { (last, first) };
    Some((low..=high).map(String::from).collect())
}

/// Returns what `{a,b}` lists, where a text is nothing else.
pub(crate) fn alternatives(text: &str) -> Option<Vec<&str>> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    split_outside_braces(inside, &[',']).filter(|listed| listed.len() > 1)
}

/// Parts a text at separators that stand in no braces; `None` where its braces do not pair, or are too deep.
pub(crate) fn split_outside_braces<'a>(text: &'a str, separators: &[char]) -> Option<Vec<&'a str>> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, char) in text.char_indices() {
        match char {
            '{' if depth == MAX_BRACE_DEPTH => return None,
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1)?,
            _ if depth == 0 && separators.contains(&char) => {
                parts.push(text.get(start..at)?);
                start = at + char.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..)?);
    (depth == 0).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_written_out() {
        let written = |path| expand(path).0;
        assert_eq!(written("/{usr,var}/*"), ["/usr/*", "/var/*"]);
        assert_eq!(written("{}"), ["{}"]);
        assert_eq!(written("f() {\n  a,b\n}"), ["f() {\n  a,b\n}"]);
        assert_eq!(written("f() {\n  cat /{etc,var}/x\n}").len(), 2);
        assert_eq!(written("/{a..c}x"), ["/ax", "/bx", "/cx"]);
        assert_eq!(written("/{a,{b,c}}{1,2}"), ["/a1", "/a2", "/b1", "/b2", "/c1", "/c2"]);
        assert_eq!(written("{}{a,b}"), ["{}a", "{}b"]);
    }

    #[test]
    fn a_word_becomes_the_words_that_bash_makes_of_it() {
        for (word, words) in [
            ("{rm,-rf,/}", "rm -rf /"),
            ("{r,x}m", "rm xm"),
            ("{rm,x}{,}", "rm rm x x"),
            ("{,rm}", "rm"),
            ("{a,/etc/{x,shadow}}", "a /etc/x /etc/shadow"),
            ("{/etc/sha,x}{dow,y}", "/etc/shadow /etc/shay xdow xy"),
            ("{a,b", "{a,b"),
            ("{{a,b}", "{a {b"),
            ("a{},b}", "a} ab"),
            ("a{}{},b}", "a}{} ab"),
            ("a{b,{},c}d}", "abd} a{}d} acd}"),
            ("a{}{x,b}", "a{}x a{}b"),
            ("a{{},b}", "a{} ab"),
        ] {
            assert_eq!(spread(word, 256).join(" "), words, "{word}");
        }
        assert_eq!(spread("x{,}{,}", 3), ["x{,}{,}"]);
    }

    #[test]
    fn a_quoted_brace_is_a_letter() {
        // As it stands after `{a,"}"}b`, `{a,"b,c"}` and `{a,"{x,y}"}`.
        for (word, bare, words) in [
            ("{a,}}b", [0, 2, 4].as_slice(), "ab }b"),
            ("{a,b,c}", &[0, 2, 6], "a b,c"),
            ("{a,{x,y}}", &[0, 2, 8], "a {x,y}"),
            // Where a stand-in stands already, every brace counts.
            ("{a,}}\u{fdd0}", &[0, 2, 4], "a}\u{fdd0} }\u{fdd0}"),
        ] {
            assert_eq!(written_out(word, bare, 256).join(" "), words, "{word}");
        }
    }
}
