//! The files of the page.

/// What a browser may do on the page. Images come from wherever an app's message says, as in Slack; nothing else does.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self' https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// Its `Content-Type`.
    pub content_type: &'static str,
    pub body: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const SCRIPT: &str = "text/javascript; charset=utf-8";

const FILES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("page.html")),
    ("/page/page.css", CSS, include_str!("page.css")),
    ("/page/icon.svg", SVG, include_str!("icon.svg")),
    ("/page/api.js", SCRIPT, include_str!("api.js")),
    ("/page/block.js", SCRIPT, include_str!("block.js")),
    ("/page/composer.js", SCRIPT, include_str!("composer.js")),
    ("/page/date.js", SCRIPT, include_str!("date.js")),
    ("/page/dom.js", SCRIPT, include_str!("dom.js")),
    ("/page/element.js", SCRIPT, include_str!("element.js")),
    ("/page/emoji.js", SCRIPT, include_str!("emoji.js")),
    ("/page/markdown.js", SCRIPT, include_str!("markdown.js")),
    ("/page/memory.js", SCRIPT, include_str!("memory.js")),
    ("/page/message.js", SCRIPT, include_str!("message.js")),
    ("/page/modal.js", SCRIPT, include_str!("modal.js")),
    ("/page/mrkdwn.js", SCRIPT, include_str!("mrkdwn.js")),
    ("/page/page.js", SCRIPT, include_str!("page.js")),
    ("/page/play.js", SCRIPT, include_str!("play.js")),
    ("/page/render.js", SCRIPT, include_str!("render.js")),
    ("/page/side.js", SCRIPT, include_str!("side.js")),
    ("/page/tour.js", SCRIPT, include_str!("tour.js")),
];

/// Finds the file that a path names.
#[must_use]
pub fn asset(path: &str) -> Option<Asset> {
    let (_, content_type, body) = FILES.iter().find(|(name, _, _)| *name == path)?;
    Some(Asset { content_type, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_a_file_names_is_there() {
        for (path, _, body) in FILES {
            let quoted =
                body.split(['"', '\'']).filter(|word| word.starts_with("./") || word.starts_with("/page/"));
            for name in quoted {
                let name = name.replace("./", "/page/");
                assert!(asset(&name).is_some(), "{path} names {name}");
            }
        }
    }

    #[test]
    fn nothing_in_the_page_turns_text_into_markup_or_code() {
        let banned = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "DOMParser",
            "srcdoc",
            "eval(",
            "new Function",
            "setAttribute('style'",
            "createContextualFragment",
            "javascript:",
        ];
        for (path, _, body) in FILES {
            for word in banned {
                assert!(!body.contains(word), "{path} holds {word}");
            }
        }
    }

    #[test]
    fn the_page_names_no_other_host_and_holds_no_inline_script() {
        let (_, _, html) = FILES.iter().find(|(path, _, _)| *path == "/").unwrap();
        assert!(!html.contains("http"), "the page loads from itself only");
        assert!(!html.contains(" style=") && !html.contains(" onclick="));
        assert_eq!(html.matches("<script").count(), 1);
        assert!(!CONTENT_SECURITY_POLICY.contains("unsafe"));
    }

    #[test]
    fn a_path_that_is_no_file_finds_nothing() {
        for path in ["", "/page/", "/page/../page.rs", "/page/asset.rs", "//", "/page/page.js?x"] {
            assert_eq!(asset(path), None, "{path}");
        }
    }
}
