//! Mentions, links and dates in Slack's markup, from ids that may be anything.

use crate::text::harmless::{escape, plain};
use ghost_base::Timestamp;

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 32 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Mentions a person, who is notified.
#[must_use]
pub fn mention(user: &str) -> String {
    if is_id(user) { format!("<@{user}>") } else { plain(user) }
}

/// Names a channel as a link.
#[must_use]
pub fn channel(channel: &str) -> String {
    if is_id(channel) { format!("<#{channel}>") } else { plain(channel) }
}

/// Mentions everybody in a user group, who are notified.
#[must_use]
pub fn everybody_in(group: &str) -> String {
    if is_id(group) { format!("<!subteam^{group}>") } else { plain(group) }
}

/// Names a person without telling them.
#[must_use]
pub fn named(name: &str) -> String {
    plain(name.trim_start_matches('@'))
}

/// Makes a link. Only addresses of the web become one; anything else is left as words.
#[must_use]
pub fn link(url: &str, label: &str) -> String {
    let label = plain(label).replace('|', "¦").replace('\n', " ");
    let web = url.starts_with("https://") || url.starts_with("http://");
    let clean = url.chars().all(|char| char.is_ascii_graphic());
    if !web || !clean {
        return label;
    }
    let url: String = url
        .chars()
        .map(|char| match char {
            '<' => "%3C".to_owned(),
            '>' => "%3E".to_owned(),
            '|' => "%7C".to_owned(),
            '&' => "&amp;".to_owned(),
            char => char.to_string(),
        })
        .collect();
    if label.trim().is_empty() { format!("<{url}>") } else { format!("<{url}|{label}>") }
}

/// Shows a moment in the time zone of whoever reads it, day and time of day.
#[must_use]
pub fn date(moment: Timestamp) -> String {
    let seconds = moment.as_millis().div_euclid(1000);
    let fallback = escape(&moment.to_string()).replace(['|', '^'], " ");
    format!("<!date^{seconds}^{{date_short_pretty}} {{time_secs}}|{fallback}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_becomes_a_mention_and_nothing_else_does() {
        assert_eq!(
            (mention("U1"), channel("C1"), everybody_in("S1")),
            ("<@U1>".into(), "<#C1>".into(), "<!subteam^S1>".into())
        );
        assert_eq!(mention("U1> <!channel"), "U1&gt; &lt;!channel");
        assert_eq!(named("@alice"), "alice");
    }

    #[test]
    fn a_link_leads_to_the_web_and_shows_its_label() {
        assert_eq!(
            link("https://a.example/?x=1&y=|", "see *this*|"),
            "<https://a.example/?x=1&amp;y=%7C|see ∗this∗¦>"
        );
        assert_eq!(link("javascript:alert(1)", "click"), "click");
        assert_eq!(link("https://a.example/\n<!here>", "click"), "click");
        assert_eq!(link("https://a.example/", ""), "<https://a.example/>");
    }

    #[test]
    fn a_date_can_be_read_without_slack() {
        assert_eq!(
            date(Timestamp::from_millis(1_700_000_000_123)),
            "<!date^1700000000^{date_short_pretty} {time_secs}|2023-11-14T22:13:20.123Z>"
        );
    }
}
