//! Links of documents lead to files and headings that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::project::{documents, none, root};

fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// Returns where the links and pictures of a page lead, those in HTML included.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for event in events(text) {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            found.push(dest_url.into_string());
        } else if let Event::Html(html) | Event::InlineHtml(html) = event {
            for attribute in ["src=\"", "href=\""] {
                let values = html.split(attribute).skip(1);
                found.extend(values.filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
            }
        }
    }
    found
}

/// Returns what a link to a heading says behind `#`, as forges and mdBook make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|char| char.is_alphanumeric() || matches!(char, ' ' | '-' | '_'));
    kept.map(|char| if char == ' ' { '-' } else { char }).collect::<String>().to_lowercase()
}

/// Returns the anchors of all headings; the second one of a name ends in `-1`.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in events(text) {
        match (event, &mut heading) {
            (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
            (Event::Text(part) | Event::Code(part), Some(words)) => words.push_str(&part),
            (Event::End(TagEnd::Heading(_)), Some(words)) => {
                let name = anchor(words);
                let before = seen.entry(name.clone()).or_default();
                found.insert(if *before == 0 { name } else { format!("{name}-{before}") });
                *before += 1;
                heading = None;
            }
            _ => {}
        }
    }
    found
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// Takes the `..` out of a path.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

/// Returns the path from the top, and the anchor, to which a link of a page leads.
fn target<'a>(page: &str, link: &'a str) -> (String, Option<&'a str>) {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    if path.is_empty() {
        return (page.to_owned(), anchor);
    }
    let whole = plain(&Path::new(page).parent().unwrap().join(path));
    (whole.to_string_lossy().into_owned(), anchor)
}

/// Says what is wrong with the links of a page.
fn problems(page: &str, text: &str, all: &BTreeMap<String, String>) -> Vec<String> {
    let mut problems = Vec::new();
    for link in links(text).iter().filter(|link| !is_elsewhere(link)) {
        let (path, anchor) = target(page, link);
        let heading = |anchor: &str| match all.get(&path) {
            Some(text) => anchors(text).contains(anchor),
            None => path == page && anchors(text).contains(anchor),
        };
        if path != page && !root().join(&path).exists() {
            problems.push(format!("{page}: {link}: there is no {path}"));
        } else if anchor.is_some_and(|anchor| !heading(anchor)) {
            problems.push(format!("{page}: {link}: {path} has no such heading"));
        }
    }
    problems
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let all = documents();
    none(all.iter().flat_map(|(page, text)| problems(page, text, &all)).collect());
}

#[test]
fn a_dead_link_is_found() {
    let all = BTreeMap::from([("docs/a.md".to_owned(), "# One `two`, three\n## One\n# One\n".to_owned())]);
    let found = |text: &str| problems("docs/x.md", text, &all).len();
    assert_eq!(found("[a](../README.md) [b](#here)\n# Here"), 0);
    assert_eq!(found("[a](README.markdown) ![b](../demo/no.png) <img src=\"no.png\">"), 3);
    assert_eq!(found("[a](#there)\n# Here"), 1);
    assert_eq!(anchors(&all["docs/a.md"]), ["one-two-three", "one", "one-1"].map(str::to_owned).into());
    assert_eq!(found("`[a](no.md)` [b](https://example.com/no)"), 0);
}

#[test]
fn every_file_of_the_source_that_a_page_names_is_there() {
    let mut missing = Vec::new();
    for (page, text) in documents() {
        let named = text.split('`').skip(1).step_by(2);
        // A path with a gap, such as `crates/…/src`, names a kind of file.
        let paths = named.filter(|name| name.starts_with("crates/") || name.starts_with("src/"));
        for path in paths.filter(|path| !path.contains(['…', '*', ' ', '<', ':', '\n'])) {
            if !root().join(path).exists() {
                missing.push(format!("{page}: {path}"));
            }
        }
    }
    none(missing);
}

#[test]
fn a_page_of_the_book_links_only_within_the_book() {
    let outside = |(page, text): &(String, String)| -> Vec<String> {
        let leaves = |link: &String| !is_elsewhere(link) && !target(page, link).0.starts_with("docs/");
        let links = links(text).into_iter().filter(leaves);
        links
            .map(|link| format!("{page}: {link}: write the path as code, the book does not hold it"))
            .collect()
    };
    let pages = documents().into_iter().filter(|(page, _)| page.starts_with("docs/"));
    none(pages.collect::<Vec<_>>().iter().flat_map(outside).collect());
}

#[test]
fn what_the_book_includes_is_there_and_has_no_relative_links() {
    let mut problems = Vec::new();
    let mut seen = 0;
    for (page, text) in documents().into_iter().filter(|(page, _)| page.starts_with("docs/")) {
        for path in text.split("{{#include ").skip(1).filter_map(|rest| rest.split("}}").next()) {
            let (path, _) = target(&page, path);
            seen += 1;
            match std::fs::read_to_string(root().join(&path)) {
                Ok(text) => problems.extend(
                    links(&text)
                        .into_iter()
                        .filter(|link| !is_elsewhere(link) && !link.starts_with('#'))
                        .map(|link| format!("{path} is a page of the book: {link} leads out of it")),
                ),
                Err(error) => problems.push(format!("{page}: {path}: {error}")),
            }
        }
    }
    assert!(seen > 0);
    none(problems);
}

#[test]
fn the_table_of_contents_lists_every_page_and_no_other() {
    let all = documents();
    let mut listed: Vec<String> =
        links(&all["docs/SUMMARY.md"]).iter().map(|link| target("docs/SUMMARY.md", link).0).collect();
    listed.sort();
    let pages: Vec<String> =
        all.into_keys().filter(|page| page.starts_with("docs/") && page != "docs/SUMMARY.md").collect();
    assert_eq!(listed, pages);
    // mdBook writes README.md as index.html, and leaves links to it as they are.
    assert!(pages.iter().all(|page| !page.ends_with("README.md")), "the first page of a folder is index.md");
}
