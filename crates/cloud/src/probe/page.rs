//! The page that the probe of a load balancer asks a machine for, asked by the machine itself.

use ghost_inspect::path::{PageQuestion, Reading};

use super::guest_probe::{ProbeError, ProbeSpec};
use super::payload::sections;

/// What is run, and how its output is read: the address of the page, the status, and how `curl` ended.
pub static PAGE: ProbeSpec<Reading> = ProbeSpec {
    script: "guest-page",
    what: "what it answers where a load balancer's probe asks",
    counters: false,
    read: page,
};

/// Returns the values of the script's variables for a question.
#[must_use]
pub fn page_values(question: &PageQuestion) -> Vec<(&'static str, String)> {
    vec![
        ("scheme", question.scheme.as_str().to_owned()),
        ("host", question.address.to_string()),
        ("port", question.port.to_string()),
        ("path", question.full_path()),
    ]
}

fn page(text: &str) -> Result<Reading, ProbeError> {
    let found = sections(text)?.into_iter().find(|part| part.name == "page");
    Ok(match found {
        Some(part) if part.code == 0 => Reading::Text(format!("{}\n", part.text.trim_end())),
        Some(part) => Reading::Failed { error: part.text.trim().to_owned() },
        None => Reading::Failed { error: "it printed no page".to_owned() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_curl_says_so() {
        let text = "section page 127 21\ncurl is not installed\n";
        assert_eq!(page(text).unwrap(), Reading::Failed { error: "curl is not installed".to_owned() });
        let text = "section page 0 28\nhttp://10.0.0.4:80/up 404 0\n\n";
        assert_eq!(page(text).unwrap(), Reading::Text("http://10.0.0.4:80/up 404 0\n".to_owned()));
    }
}
