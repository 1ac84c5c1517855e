//! How likely a program made a label up: a score, and its parts.

/// The score of a label. Each part is a number of points; together they are at most 85.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct NameScore {
    /// Long ones are seldom typed.
    pub(crate) length: f64,
    /// Each letter is used once.
    pub(crate) entropy: f64,
    /// Letters and digits change places.
    pub(crate) digits: f64,
    /// There are few vowels.
    pub(crate) vowels: f64,
    /// Letters follow each other that seldom do in names.
    pub(crate) pairs: f64,
}

/// From this many points on a label counts as odd.
pub(crate) const MIN_GENERATED_SCORE: f64 = 36.0;
/// Shorter labels say nothing.
const MIN_LABEL_LEN: usize = 6;

/// Which letters often follow each letter from a to z in words and in names of machines.
const FOLLOWERS: [&[u8]; 26] = [
    b"bcdfgiklmnprstuvwxyz",
    b"abeiloruys",
    b"acehiklorstuyd",
    b"abdeinorsuvyn",
    b"abcdefgilmnprstvwxy",
    b"aefilorut",
    b"aeghilnorsuyr",
    b"aeionrtuy",
    b"abcdefgklmnoprstvxz",
    b"aeous",
    b"aeinosyu",
    b"adefiklmopstuvyl",
    b"abeimnopsuy",
    b"acdefgiklnostuvxy",
    b"abcdefgiklmnoprstuvwxy",
    b"aehiloprstuyn",
    b"ul",
    b"acdefgiklmnoprstuvy",
    b"acehiklmnopqstuwy",
    b"acehilmoprstuwy",
    b"abcdefgiklmnprstx",
    b"aeiopm",
    b"aehinorsw",
    b"aceiptym",
    b"aceilmnoprstw",
    b"aeiozuy",
];

impl NameScore {
    /// Examines a label.
    pub(crate) fn of(label: &[u8]) -> Self {
        let size = label.len();
        let letters = label.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        if size < MIN_LABEL_LEN || letters < 3 {
            return Self::default();
        }
        let part = |points: f64, share: f64| (points * share.clamp(0.0, 1.0) * 10.0).round() / 10.0;
        let few = if letters >= 5 { 1.0 - share(label, vowel, letters) / 0.25 } else { 0.0 };
        Self {
            length: part(8.0, (size - MIN_LABEL_LEN) as f64 / 10.0),
            entropy: part(8.0, (entropy(label) / (size as f64).log2() - 0.8) / 0.2),
            digits: part(25.0, (switches(label) - 1.0) / 4.0),
            vowels: part(12.0, few),
            pairs: part(32.0, rare(label) * 1.2),
        }
    }

    /// Returns all points together.
    pub(crate) fn score(&self) -> f64 {
        self.length + self.entropy + self.digits + self.vowels + self.pairs
    }
}

fn vowel(byte: u8) -> bool {
    matches!(byte.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

fn share(label: &[u8], meant: impl Fn(u8) -> bool, all: usize) -> f64 {
    label.iter().filter(|byte| meant(**byte)).count() as f64 / all as f64
}

/// Returns bits for each byte.
fn entropy(label: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in label {
        if let Some(count) = counts.get_mut(usize::from(byte.to_ascii_lowercase())) {
            *count += 1;
        }
    }
    let all = label.len() as f64;
    let bits = |count: &u32| {
        let part = f64::from(*count) / all;
        -part * part.log2()
    };
    counts.iter().filter(|count| **count > 0).map(bits).sum()
}

/// Returns how often a letter follows a digit, or a digit a letter.
fn switches(label: &[u8]) -> f64 {
    let kind = |byte: u8| (byte.is_ascii_alphabetic(), byte.is_ascii_digit());
    let switched = |pair: &&[u8]| match pair {
        [one, two] => matches!((kind(*one), kind(*two)), ((true, _), (_, true)) | ((_, true), (true, _))),
        _ => false,
    };
    label.windows(2).filter(switched).count() as f64
}

/// Returns which part of all pairs of letters is seldom seen; nothing where there are hardly any.
fn rare(label: &[u8]) -> f64 {
    let mut pairs = (0_u32, 0_u32);
    for pair in label.windows(2) {
        let [one, two] = pair else {
            continue;
        };
        let (one, two) = (one.to_ascii_lowercase(), two.to_ascii_lowercase());
        if !one.is_ascii_lowercase() || !two.is_ascii_lowercase() {
            continue;
        }
        pairs.0 += 1;
        let usual = FOLLOWERS.get(usize::from(one - b'a')).is_some_and(|followers| followers.contains(&two));
        pairs.1 += u32::from(!usual);
    }
    if pairs.0 < 3 { 0.0 } else { f64::from(pairs.1) / f64::from(pairs.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn odd(labels: &str) -> usize {
        labels
            .split_whitespace()
            .filter(|label| NameScore::of(label.as_bytes()).score() >= MIN_GENERATED_SCORE)
            .count()
    }

    #[test]
    fn names_that_a_program_made_up_look_odd() {
        let made = "xaji0y6d pbhsahxt hv3a3zmf 8mdd4v30 t9nt3w5u wnnhj7xv g0fn9xuy 41ibljh7 ujv6oh9s t7rpwh6n \
                    nyfx4m8t 1qojah9t q6v9mh7f xjkqwvbzrt qzxwvkjhgf bkzqjxwmvp kq3v9z7x1m vbnmcxzlkj";
        let all = made.split_whitespace().count();
        assert!(odd(made) * 10 >= all * 8, "{} of {all}", odd(made));
    }

    #[test]
    fn names_that_people_give_do_not() {
        let given = "google example facebook wikipedia mailserver fileserver printer intranet kubernetes grafana \
                     prometheus elasticsearch database-primary web-frontend webserver01 db-prod-3 ip-10-0-3-17 \
                     login static assets telemetry settings-win vortex-win clients2 safebrowsing fonts gateway \
                     firewall backup01 storage switch-core-1 accesspoint conference vpn-gateway autodiscover \
                     wpad isatap teredo update download windowsupdate office365 onedrive sharepoint dropbox \
                     github gitlab registry artifacts jenkins monitoring logging metrics production staging \
                     development customer-portal erp-system payroll helpdesk exchange2019 sqlserver2 dc01 dns1 \
                     broken fast0 normal slow0";
        assert_eq!(
            odd(given),
            0,
            "{:?}",
            given.split_whitespace().filter(|name| odd(name) > 0).collect::<Vec<_>>()
        );
    }

    #[test]
    fn any_bytes_can_be_looked_at() {
        for size in 0..64 {
            for byte in [0, b'a', b'z', b'7', b'-', 0xff] {
                assert!(NameScore::of(&vec![byte; size]).score().is_finite());
            }
        }
    }
}
