//! Server-sent events, read from whatever chunks the network delivers.
//!
//! Follows the section "Interpreting an event stream" of the HTML standard. What is left at the end of a stream without an
//! empty line behind it is no event: it may be cut off.

/// The longest line. A model's longest line is one part of an answer; the whole answer is bounded elsewhere.
const MAX_LINE_BYTES: usize = 4 << 20;

/// The longest data of one event.
const MAX_DATA_BYTES: usize = 8 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its type; `message` where it has none.
    pub(crate) name: String,
    /// Its data, several lines joined by line ends.
    pub(crate) data: String,
}

/// A line or an event is longer than any provider's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Turns bytes into events.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    line: Vec<u8>,
    name: String,
    data: String,
    has_data: bool,
    /// The last byte ended a line as CR: a LF that follows belongs to it.
    after_return: bool,
    /// A line was seen, so that a byte order mark is one no longer.
    begun: bool,
}

impl Reader {
    /// Reads the next bytes and appends the events that they complete.
    ///
    /// # Errors
    /// Fails where a line or an event has no bound. Nothing can be read after that.
    pub(crate) fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLong> {
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                Some(_) | None => (part, None),
            };
            if self.after_return && text.is_empty() && end == Some(b'\n') {
                self.after_return = false;
                continue;
            }
            self.after_return = end == Some(b'\r');
            if self.line.len() + text.len() > MAX_LINE_BYTES {
                return Err(TooLong);
            }
            self.line.extend_from_slice(text);
            if end.is_some() {
                self.finish_line(events)?;
            }
        }
        Ok(())
    }

    fn finish_line(&mut self, events: &mut Vec<Event>) -> Result<(), TooLong> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let line = if self.begun { &*text } else { text.strip_prefix('\u{feff}').unwrap_or(&text) };
        self.begun = true;
        if line.is_empty() {
            self.finish_event(events);
            return Ok(());
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if self.data.len() + value.len() >= MAX_DATA_BYTES {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            // A comment has an empty field. `id` and `retry` are about reconnecting, which no model's interface does.
            _ => {}
        }
        Ok(())
    }

    fn finish_event(&mut self, events: &mut Vec<Event>) {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            let name = if name.is_empty() { "message".to_owned() } else { name };
            events.push(Event { name, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<Event> {
        let (mut reader, mut events) = (Reader::default(), Vec::new());
        for part in chunks {
            reader.push(part, &mut events).unwrap();
        }
        events
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, data)| Event { name: (*name).to_owned(), data: (*data).to_owned() })
            .collect();
        assert_eq!(read(&[text.as_bytes()]), expected, "in one chunk");
        let bytes: Vec<_> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), expected, "byte by byte");
        for at in 0..text.len() {
            let (one, other) = text.as_bytes().split_at(at);
            assert_eq!(read(&[one, other]), expected, "cut at {at}");
        }
    }

    #[test]
    fn an_event_has_a_name_and_data() {
        check("event: ping\ndata: {}\n\n", &[("ping", "{}")]);
        check("data:1\n\ndata: 2\n\n", &[("message", "1"), ("message", "2")]);
    }

    #[test]
    fn every_line_end_of_the_standard_ends_a_line() {
        check("event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", &[("a", "1"), ("message", "2")]);
        check("event: a\rdata: 1\r\rdata: 2\r\r", &[("a", "1"), ("message", "2")]);
        check("data: 1\r\n\ndata: 2\n\r\n", &[("message", "1"), ("message", "2")]);
    }

    #[test]
    fn several_lines_of_data_are_one_event() {
        check("data: a\ndata:\ndata:  b\n\n", &[("message", "a\n\n b")]);
    }

    #[test]
    fn comments_and_fields_that_nobody_needs_are_left_out() {
        check(": keep alive\n\nid: 7\nretry: 10\ndata: x\nnonsense\n\n", &[("message", "x")]);
        check("event: only a name\n\ndata\n\n", &[("message", "")]);
    }

    #[test]
    fn a_mark_of_byte_order_is_no_text() {
        check("\u{feff}data: x\n\ndata: \u{feff}\n\n", &[("message", "x"), ("message", "\u{feff}")]);
    }

    #[test]
    fn letters_of_several_bytes_survive_any_cut() {
        check("data: größer 🦀 网络\n\n", &[("message", "größer 🦀 网络")]);
    }

    #[test]
    fn what_is_no_utf8_is_replaced() {
        let events = read(&[b"data: a\xff\xfeb\n\n"]);
        assert_eq!(events, [Event { name: "message".to_owned(), data: "a\u{fffd}\u{fffd}b".to_owned() }]);
    }

    #[test]
    fn an_event_that_was_cut_off_is_none() {
        check("data: whole\n\ndata: half", &[("message", "whole")]);
        check("data: whole\n\ndata: without the empty line\n", &[("message", "whole")]);
    }

    #[test]
    fn a_line_without_an_end_is_refused() {
        let (mut reader, mut events) = (Reader::default(), Vec::new());
        let block = vec![b'x'; 1 << 20];
        let read: Vec<_> = (0..5).map(|_| reader.push(&block, &mut events)).collect();
        assert_eq!(read, [Ok(()), Ok(()), Ok(()), Ok(()), Err(TooLong)]);
    }

    #[test]
    fn an_event_of_endless_lines_is_refused() {
        let (mut reader, mut events) = (Reader::default(), Vec::new());
        let line = format!("data: {}\n", "x".repeat(1 << 20));
        let refused = (0..9).any(|_| reader.push(line.as_bytes(), &mut events).is_err());
        assert!(refused && events.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_cut_reads_the_same(bytes: Vec<u8>, at: proptest::sample::Index) {
            let (one, other) = bytes.split_at(at.index(bytes.len() + 1));
            proptest::prop_assert_eq!(read(&[one, other]), read(&[&bytes]));
        }
    }
}
