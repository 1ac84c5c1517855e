//! What a command is, by its words.

/// A command, as far as it matters who answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `az`, and the words behind it.
    Cloud(&'a [String]),
    /// `kubectl`, and the words behind it.
    Cluster(&'a [String]),
    /// What a host is to run over ssh: its name or address, and the text that its shell reads.
    Guest(&'a str, String),
    /// Something that asks this machine.
    Local(&'a str, &'a [String]),
}

/// Options of ssh that take a word.
const VALUED_OPTIONS: &str = "BbcDEeFIiJLlmOopQRSWw";

impl<'a> Line<'a> {
    /// Tells what a command is; `None` where there are no words.
    pub(super) fn of(words: &'a [String]) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let name = first.rsplit('/').next().unwrap_or(first);
        Some(match name {
            "az" => Self::Cloud(rest),
            "kubectl" => Self::Cluster(rest),
            "ssh" => match guest(rest) {
                Some((host, text)) => Self::Guest(host, text),
                None => Self::Local("ssh", rest),
            },
            name => Self::Local(name, rest),
        })
    }
}

/// Returns the host of a line of ssh, and what it is to run.
fn guest(words: &[String]) -> Option<(&str, String)> {
    let mut words = words.iter();
    let host = loop {
        let word = words.next()?;
        let Some(option) = word.strip_prefix('-') else { break word };
        // `-oName=value` holds its word already.
        let mut letters = option.chars();
        if letters.next().is_some_and(|letter| VALUED_OPTIONS.contains(letter)) && letters.next().is_none() {
            words.next()?;
        }
    };
    let host = host.rsplit_once('@').map_or(host.as_str(), |(_, host)| host);
    let rest: Vec<&str> = words.map(String::as_str).collect();
    // The far shell reads one text, however many words it came in.
    (!rest.is_empty()).then(|| (host, rest.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_line_of_ssh_names_a_host_behind_its_options() {
        let line = words(
            "/usr/bin/ssh -F none -T -o BatchMode=yes -i /k -l ana -p 22 10.0.1.5 sudo -n sh -c 'id -u'",
        );
        assert_eq!(Line::of(&line), Some(Line::Guest("10.0.1.5", "sudo -n sh -c 'id -u'".to_owned())));
        let line = words("ssh -oBatchMode=yes ana@vm uptime");
        assert_eq!(Line::of(&line), Some(Line::Guest("vm", "uptime".to_owned())));
    }

    #[test]
    fn the_rest_asks_this_machine_or_the_cloud() {
        assert_eq!(Line::of(&words("az vm list")), Some(Line::Cloud(&words("vm list"))));
        assert_eq!(Line::of(&words("kubectl get pods")), Some(Line::Cluster(&words("get pods"))));
        assert_eq!(
            Line::of(&words("ping -c 1 10.0.1.5")),
            Some(Line::Local("ping", &words("-c 1 10.0.1.5")))
        );
        assert_eq!(Line::of(&words("ssh -V")), Some(Line::Local("ssh", &words("-V"))));
        assert_eq!(Line::of(&[]), None);
    }
}
