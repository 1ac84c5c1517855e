//! Reads the blobs of a flow log, record by record: one that is cut off or broken costs no other.

use serde::Deserialize;

use super::log::{Log, MAX_LINES};
use super::tuple::Tuple;
use crate::net::clipped;

/// So many bytes of one blob are read.
pub const MAX_BYTES: usize = 64 << 20;

/// What of the blobs could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Unread {
    /// Records that are cut off or broken.
    pub records: usize,
    /// Lines that are none.
    pub lines: usize,
    /// Blobs of which only the first part was read.
    pub large: usize,
    /// Lines behind the last one that was counted.
    pub beyond: usize,
    /// Packed files, or files in them, that could not be unpacked.
    pub packed: usize,
}

impl Unread {
    /// Tells whether everything was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Deserialize)]
struct Record {
    #[serde(rename = "macAddress", default)]
    mac: String,
    #[serde(rename = "flowRecords", default)]
    flows: Flows,
    /// What the log of a security group has in their place.
    #[serde(default)]
    properties: GroupLog,
}

#[derive(Deserialize, Default)]
struct GroupLog {
    #[serde(default)]
    flows: Vec<RuleFlows>,
}

#[derive(Deserialize)]
struct RuleFlows {
    #[serde(default)]
    rule: String,
    #[serde(default)]
    flows: Vec<MacFlows>,
}

#[derive(Deserialize)]
struct MacFlows {
    #[serde(default)]
    mac: String,
    #[serde(rename = "flowTuples", default)]
    tuples: Vec<String>,
}

#[derive(Deserialize, Default)]
struct Flows {
    #[serde(default)]
    flows: Vec<Flow>,
}

#[derive(Deserialize)]
struct Flow {
    #[serde(rename = "flowGroups", default)]
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    rule: String,
    #[serde(rename = "flowTuples", default)]
    tuples: Vec<String>,
}

/// Reads the blobs of a log, each with the bytes that were read of it.
#[must_use]
pub fn read<'a>(blobs: impl IntoIterator<Item = &'a [u8]>) -> Log {
    let mut log = Log::default();
    blobs.into_iter().for_each(|blob| log.add_blob(blob));
    log
}

impl Log {
    /// Adds the lines of a blob, of which so many bytes were read.
    pub fn add_blob(&mut self, blob: &[u8]) {
        if blob.len() > MAX_BYTES {
            self.unread.large += 1;
        }
        let (records, broken) = records(blob.get(..MAX_BYTES).unwrap_or(blob));
        self.unread.records += broken;
        records.iter().for_each(|record| self.take(record));
    }

    /// Adds the lines of the last part of a blob: it begins anywhere, and what stands before the first record in it is left out.
    pub fn add_end(&mut self, part: &[u8]) {
        let start = part.windows(RECORD.len()).position(|found| found == RECORD);
        let rest = start.and_then(|start| part.get(start..)).unwrap_or_default();
        let whole: Vec<u8> = [b"{\"records\":[", rest].concat();
        self.add_blob(&whole);
    }

    fn take(&mut self, record: &Record) {
        let mac = plain_mac(&record.mac);
        for group in record.flows.flows.iter().flat_map(|flow| &flow.groups) {
            self.take_lines(&mac, &plain_rule(&group.rule), &group.tuples);
        }
        for group in &record.properties.flows {
            // What stands before the name says whether the platform or a user made the rule.
            let rule = ["UserRule_", "DefaultRule_"].iter().find_map(|begin| group.rule.strip_prefix(begin));
            let rule = plain_rule(rule.unwrap_or(&group.rule));
            for flows in &group.flows {
                self.take_lines(&plain_mac(&flows.mac), &rule, &flows.tuples);
            }
        }
    }

    fn take_lines(&mut self, mac: &str, rule: &str, lines: &[String]) {
        for line in lines {
            if self.lines() >= MAX_LINES {
                self.unread.beyond += 1;
                continue;
            }
            match Tuple::parse(line) {
                Some(tuple) => self.add(mac, rule, &tuple),
                None => self.unread.lines += 1,
            }
        }
    }
}

/// Writes the name of a rule as one short line: a file may hold anything, and no line of an answer comes from it.
fn plain_rule(text: &str) -> String {
    let line = text.split(|char: char| char.is_whitespace() || char.is_control());
    clipped(&line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Writes a hardware address as the interfaces have it: `00-22-48-71-C2-05`.
pub(crate) fn plain_mac(text: &str) -> String {
    let digits: Vec<char> =
        text.chars().filter(char::is_ascii_hexdigit).map(|char| char.to_ascii_uppercase()).take(12).collect();
    digits.chunks(2).map(|pair| pair.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

/// Returns the records of a blob that can be read, and how many cannot.
///
/// A blob that is still written ends anywhere, so that the whole is no JSON: each record is found by its braces and read alone.
fn records(blob: &[u8]) -> (Vec<Record>, usize) {
    let (mut found, mut broken) = (Vec::new(), 0);
    let start = blob.windows(RECORDS.len()).position(|part| part == RECORDS);
    let Some(mut at) = start.map(|start| start + RECORDS.len()) else {
        return (found, usize::from(blob.iter().any(|byte| !byte.is_ascii_whitespace())));
    };
    while let Some(begin) = next_record(blob, at) {
        match end_of(blob, begin) {
            Some(end) => {
                match blob.get(begin..end).map(serde_json::from_slice::<Record>) {
                    // A record of another form has no line that could be read.
                    Some(Ok(record))
                        if record.flows.flows.is_empty() && record.properties.flows.is_empty() =>
                    {
                        let text = blob.get(begin..end).unwrap_or_default();
                        broken += usize::from(text.windows(FLOWS.len()).any(|part| part == FLOWS));
                    }
                    Some(Ok(record)) => found.push(record),
                    Some(Err(_)) | None => broken += 1,
                }
                at = end;
            }
            None => {
                broken += 1;
                break;
            }
        }
    }
    (found, broken)
}

/// What a record holds that has lines.
const FLOWS: &[u8] = b"flowTuples";

/// How a record begins.
const RECORD: &[u8] = b"{\"time\":";

/// What stands before the list.
const RECORDS: &[u8] = b"\"records\"";

/// Returns where the next record begins; none behind the end of the list.
fn next_record(blob: &[u8], from: usize) -> Option<usize> {
    let rest = blob.get(from..)?;
    let found = rest.iter().position(|byte| matches!(byte, b'{' | b']'))?;
    (rest.get(found) == Some(&b'{')).then_some(from + found)
}

/// Returns where an object ends; none where it is cut off.
fn end_of(blob: &[u8], begin: usize) -> Option<usize> {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in blob.iter().enumerate().skip(begin) {
        match (in_text, byte) {
            (true, _) if is_escaped => is_escaped = false,
            (true, b'\\') => is_escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{') => depth += 1,
            (false, b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            (true | false, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(mac: &str, tuples: &[&str]) -> String {
        let tuples: Vec<String> = tuples.iter().map(|tuple| format!("\"{tuple}\"")).collect();
        format!(
            r#"{{"time":"t","macAddress":"{mac}","flowRecords":{{"flows":[{{"aclID":"a","flowGroups":[{{"rule":"r {{ \" ]","flowTuples":[{}]}}]}}]}}}}"#,
            tuples.join(",")
        )
    }

    const LINE: &str = "1663146003599,10.0.0.6,10.0.0.7,1,443,6,O,B,NX,0,0,0,0";

    #[test]
    fn a_blob_that_is_cut_off_keeps_the_records_before() {
        let whole = format!("{{\"records\":[{},{}]}}", record("00AA", &[LINE]), record("00BB", &[LINE, "x"]));
        let log = read([whole.as_bytes()]);
        assert_eq!((log.lines(), log.unread), (2, Unread { lines: 1, ..Unread::default() }));
        let cut = &whole.as_bytes()[..whole.len() - 12];
        let log = read([cut]);
        assert_eq!((log.lines(), log.unread.records), (1, 1));
        assert_eq!(read([&b"<html>"[..]]).unread.records, 1);
        assert!(read([&b" "[..]]).unread.is_empty());
    }

    #[test]
    fn the_last_part_of_a_blob_is_read_from_its_first_record_on() {
        let whole =
            format!("{{\"records\":[{},{}]}}", record("00AA", &[LINE]), record("00BB", &[LINE, LINE]));
        let mut log = Log::default();
        log.add_end(&whole.as_bytes()[30..]);
        assert_eq!((log.lines(), log.unread.is_empty()), (2, true));
        let mut log = Log::default();
        log.add_end(b"0,0\"]}]}]}}");
        assert_eq!((log.lines(), log.unread.is_empty()), (0, true));
    }

    #[test]
    fn the_log_of_a_security_group_is_read_with_its_rules() {
        let text = r#"{"records":[{"time":"2018-11-13T12:00:35Z","systemId":"a","category":"NetworkSecurityGroupFlowEvent",
            "properties":{"Version":2,"flows":[{"rule":"UserRule_deny-db","flows":[{"mac":"000D3AF87856","flowTuples":[
            "1542110402,94.102.49.190,10.5.16.4,28746,443,T,I,D,B,,,,"]}]},{"rule":"DefaultRule_AllowInternetOutBound","flows":[{"mac":
            "000D3AF87856","flowTuples":["1542110377,10.5.16.4,13.67.143.118,59831,443,T,O,A,B,,,,"]}]}]}}]}"#;
        let log = read([text.as_bytes()]);
        assert_eq!((log.lines(), log.unread.is_empty()), (2, true));
        let all = log.all(super::super::Window { from: 0, to: u64::MAX });
        assert_eq!((all[0].rule.as_deref(), all[0].denied), (Some("deny-db"), 1));
        assert_eq!(all[1].rule.as_deref(), Some("AllowInternetOutBound"));
        assert_eq!(all[0].mac, "00-0D-3A-F8-78-56");
        // Lines that stand where no form has them are not passed over in silence.
        let odd = r#"{"records":[{"time":"t","other":{"flowTuples":["1542110402,94.102.49.190,10.5.16.4,28746,443,T,I,D"]}}]}"#;
        assert_eq!(read([odd.as_bytes()]).unread.records, 1);
    }

    #[test]
    fn a_name_of_a_rule_writes_no_line_of_its_own() {
        assert_eq!(plain_rule("deny\n\u{1b}[2J  all\u{7}\n## Clear"), "deny [2J all ## Clear");
        assert!(plain_rule(&"r".repeat(10_000)).len() < 1_000);
    }

    #[test]
    fn a_record_of_another_form_costs_no_other() {
        let whole = format!("{{\"records\":[{{\"flowRecords\":7}},{}]}}", record("00AA", &[LINE]));
        let log = read([whole.as_bytes()]);
        assert_eq!((log.lines(), log.unread.records), (1, 1));
    }

    #[test]
    fn hardware_addresses_are_written_as_interfaces_have_them() {
        assert_eq!(plain_mac("00224871C205"), "00-22-48-71-C2-05");
        assert_eq!(plain_mac("00:22:48:71:c2:05"), "00-22-48-71-C2-05");
    }

    proptest! {
        #[test]
        fn no_bytes_stop_it(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = read([bytes.as_slice()]);
            let mut some = b"{\"records\":[{".to_vec();
            some.extend(bytes);
            let _ = read([some.as_slice()]);
        }
    }
}
