//! Facts about data in Markdown, with a reader that is not ours.

#![expect(clippy::wildcard_enum_match_arm, reason = "the events of the reader are not ours to list")]

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::report::markdown::{code, fence, quote, table, text};
use crate::report::tests::unspell;

/// Every extension that changes what a text is, other than typographic quotes.
fn options() -> Options {
    Options::all() - Options::ENABLE_SMART_PUNCTUATION
}

fn parse(markdown: &str) -> Vec<Event<'_>> {
    Parser::new_ext(markdown, options()).collect()
}

/// Reads paragraphs: their text, or what is in them that is no text.
fn prose(markdown: &str) -> Result<String, String> {
    let mut out = String::new();
    for event in parse(markdown) {
        match event {
            Event::Text(text) => out.push_str(&text),
            Event::HardBreak => out.push('\n'),
            Event::Start(Tag::Paragraph | Tag::BlockQuote(None))
            | Event::End(TagEnd::Paragraph | TagEnd::BlockQuote(None)) => {}
            other => return Err(format!("{other:?} in {markdown:?}")),
        }
    }
    Ok(out)
}

fn span(markdown: &str) -> Result<String, String> {
    match parse(markdown).as_slice() {
        [Event::Start(Tag::Paragraph), Event::Code(text), Event::End(TagEnd::Paragraph)] => {
            Ok(text.to_string())
        }
        other => Err(format!("{other:?} in {markdown:?}")),
    }
}

fn block(markdown: &str) -> Result<String, String> {
    let events = parse(markdown);
    let [Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))), inner @ .., Event::End(TagEnd::CodeBlock)] =
        events.as_slice()
    else {
        return Err(format!("{events:?} in {markdown:?}"));
    };
    inner
        .iter()
        .map(|event| match event {
            Event::Text(text) => Ok(text.to_string()),
            other => Err(format!("{other:?} in {markdown:?}")),
        })
        .collect()
}

fn cells(markdown: &str) -> Result<Vec<String>, String> {
    let mut cells = Vec::new();
    for event in parse(markdown) {
        match event {
            Event::Start(Tag::TableCell) => cells.push(String::new()),
            Event::Text(text) => cells.last_mut().ok_or("text outside of a cell")?.push_str(&text),
            Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow)
            | Event::End(TagEnd::Table | TagEnd::TableHead | TagEnd::TableRow | TagEnd::TableCell) => {}
            other => return Err(format!("{other:?} in {markdown:?}")),
        }
    }
    Ok(cells)
}

/// Tokens that mean something to somebody, and any character.
fn hostile() -> impl Strategy<Value = String> {
    let tokens = prop::sample::select(vec![
        "`",
        "```",
        "~~~",
        "*",
        "_",
        "**",
        "[a](http://x)",
        "![a](b)",
        "<b>",
        "</b>",
        "<!-- ",
        "-->",
        "&amp;",
        "&#64;",
        "|",
        "\\",
        "\\|",
        "\\`",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        " ",
        "    ",
        "# ",
        "- ",
        "+ ",
        "1. ",
        "12) ",
        "> ",
        "---",
        "===",
        ":",
        ": x",
        "https://evil.example",
        "www.evil.example",
        "<https://e.example|x>",
        "<!channel>",
        "<@U1>",
        "<#C1>",
        "@here",
        "@everyone",
        "@channel",
        "<mailto:a@b.c>",
        "a@b.c",
        "$x$",
        "$$",
        "^a^",
        "~b~",
        "[^1]",
        "[^1]: x",
        "[x]: y",
        "[[w]]",
        "- [ ] t",
        "{#id}",
        "| a | b |",
        "|---|",
        "\u{1b}[2J",
        "\u{202e}",
        "\u{200b}",
        "\u{0}",
        "\u{a0}",
        "u{1b}",
        "\\u{1b}",
        "+++",
        "***",
        "é",
        "日本",
        "x",
        "0",
        ".",
        ")",
        "!",
        "=",
    ]);
    let token = prop_oneof![4 => tokens.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

fn calls_nobody(raw: &str) -> bool {
    let low = raw.to_lowercase();
    !["<!c", "<!h", "<@", "<#", "@here", "@everyone", "@channel", "<https:", "<mailto:"]
        .iter()
        .any(|call| low.contains(call))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn prose_is_read_as_exactly_the_text(data in hostile()) {
        let markdown = text(&data);
        prop_assert_eq!(prose(&markdown).map(|read| unspell(&read)), Ok(data));
        prop_assert!(calls_nobody(&markdown) && !markdown.replace("\\://", "").contains("://") && !markdown.contains('\n'), "{}", markdown);
    }

    #[test]
    fn prose_behind_other_prose_is_read_as_exactly_the_text(data in hostile()) {
        let markdown = format!("Wanted because: {}.", text(&data));
        let read = prose(&markdown).map(|read| unspell(&read));
        prop_assert_eq!(read, Ok(format!("Wanted because: {data}.")));
    }

    #[test]
    fn a_quote_keeps_its_lines(data in hostile()) {
        let lines = data.split('\n').map(|line| if line.is_empty() { " " } else { line }).collect::<Vec<_>>();
        let markdown = quote(&data);
        let read = prose(&markdown)
            .map(|read| read.split('\n').map(unspell).collect::<Vec<_>>().join("\n"));
        prop_assert_eq!(read, Ok(lines.join("\n")));
        prop_assert!(calls_nobody(&markdown), "{}", markdown);
    }

    #[test]
    fn a_code_span_is_read_as_exactly_the_text(data in hostile().prop_filter("not empty", |data| !data.is_empty())) {
        let markdown = code(&data);
        prop_assert_eq!(span(&markdown).map(|read| unspell(&read)), Ok(data));
        prop_assert!(calls_nobody(&markdown), "{}", markdown);
    }

    #[test]
    fn a_fenced_block_is_read_as_exactly_the_text(data in hostile()) {
        let markdown = fence(&data);
        let whole = if data.is_empty() || data.ends_with('\n') { data } else { data + "\n" };
        prop_assert_eq!(block(&markdown).map(|read| unspell(&read)), Ok(whole));
        prop_assert!(calls_nobody(&markdown), "{}", markdown);
    }

    #[test]
    fn a_cell_stays_one_cell(data in prop::collection::vec(hostile().prop_filter("not empty", |data| !data.is_empty()), 3)) {
        let row = data.iter().map(|cell| text(cell)).collect::<Vec<_>>();
        let read = cells(&table(&["a", "b", "c"], &[row]));
        let read = read.map(|cells| cells.iter().map(|cell| unspell(cell)).collect::<Vec<_>>());
        let header = ["a", "b", "c"].map(str::to_owned).into_iter();
        prop_assert_eq!(read, Ok(header.chain(data).collect()));
    }
}

#[test]
fn plain_words_stay_readable() {
    for plain in ["tf-dest-vm drops tcp/5001.", "10.0.0.4 -> no", "a+b=c (x)", "is it so?"] {
        assert_eq!(text(plain), plain);
    }
    assert_eq!(code("ip -br link"), "`ip -br link`");
    assert_eq!(fence("az vm list --query \"[].name\""), "```text\naz vm list --query \"[].name\"\n```");
}
