//! What words behind a report ask for.
//!
//! Goes in: a text that somebody wrote behind a report. Comes out: a new look, an answer, or neither. Never: a new look because a
//! question names a capture, a rule or a machine. A question that sounds like an order in one language only costs a click.

use super::clause::{Clause, clauses};
use super::fold::fold;
use super::message::{Topic, bounded, read, topic};
use super::vocabulary::WORDS;

/// What somebody wants behind a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// That Ghost looks again, or at something else.
    Look,
    /// An answer.
    Question,
    /// Nothing that can be seen in the words.
    Remark,
}

/// Says what words behind a report ask for. An order wins over a question beside it, and a question over a complaint beside it.
#[must_use]
pub fn request(text: &str) -> Request {
    let text = bounded(text);
    let message = read(text);
    if message.left_behind.is_some() {
        return Request::Look;
    }
    let clauses = clauses(text);
    let wishes: Vec<Request> = clauses.iter().map(wish).collect();
    if wishes.contains(&Request::Look) {
        return Request::Look;
    }
    if wishes.contains(&Request::Question) {
        return Request::Question;
    }
    let complains = |clause: &Clause| clause.is_trouble() && !clause.is_guess && !clause.is_history;
    let folded = fold(text);
    let is_done = WORDS.change.before.are_in(&folded)
        || WORDS.change.behind.are_in(&folded)
        || WORDS.history.over.are_in(&folded);
    // Whoever speaks of a capture alone orders none.
    let is_incident = topic(&folded, &clauses, false) == Topic::Incident && !is_done;
    match clauses.iter().any(complains) || is_incident || !message.baselines.is_empty() {
        true => Request::Look,
        false => Request::Remark,
    }
}

/// Says what one clause asks for.
fn wish(clause: &Clause) -> Request {
    let words = &WORDS.follow_up;
    let rest = without_fillers(&clause.folded);
    if words.tells.behind(rest).is_some() {
        return Request::Question;
    }
    if let Some(rest) = words.requests.behind(rest) {
        let rest = without_fillers(rest);
        let is_order = words.tells.behind(rest).is_none()
            && !words.tells.are_in(first_words(rest))
            && (words.orders.behind(rest).is_some()
                || words.requested.are_in(rest)
                || words.orders_within.are_in(rest));
        return if is_order { Request::Look } else { Request::Question };
    }
    let asks = words.asks.behind(rest).is_some();
    // `Capture file?` asks; where the verb comes last, `確認してもらえますか` is a polite order.
    let is_order = words.orders.behind(rest).is_some() && !clause.is_question
        || words.orders_within.are_in(rest) && !words.tells.are_in(rest);
    if is_order && !asks {
        return Request::Look;
    }
    let ends = rest.trim_end_matches(|char: char| !char.is_alphanumeric());
    let is_weak = words.weak.behind(rest).is_some() && !clause.is_trouble();
    // Where the verb comes last, so does the wish to be answered.
    let wants_words = !rest.is_ascii() && words.tells.are_in(rest);
    match clause.is_question || asks || is_weak || wants_words || words.endings.end(ends) {
        true => Request::Question,
        false => Request::Remark,
    }
}

/// Returns the first words of a clause, which say whether somebody wants an answer: `mir bitte sagen, ob …`.
fn first_words(text: &str) -> &str {
    let end = text.char_indices().filter(|(_, char)| *char == ' ').nth(3).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn without_fillers(text: &str) -> &str {
    let start = |text| str::trim_start_matches(text, |char: char| !char.is_alphanumeric());
    let mut rest = start(text);
    while let Some(behind) = WORDS.follow_up.fillers.behind(rest).map(start).filter(|rest| !rest.is_empty()) {
        rest = behind;
    }
    rest
}

/// Tells whether a text speaks of recorded packets.
#[must_use]
pub fn names_capture(text: &str) -> bool {
    WORDS.capture.words.are_in(&fold(bounded(text)))
}

/// Tells whether a question is about the bot itself. One word of such a question, `help` for instance, says little in a longer one.
#[must_use]
pub fn asks_about_bot(text: &str) -> bool {
    let folded = fold(bounded(text));
    let is_phrase = |found: &str| found.contains(' ') || !found.is_ascii();
    let mut found = WORDS.chat.about.find_all(&folded).into_iter();
    folded.split_whitespace().count() <= 2 && WORDS.chat.about.are_in(&folded)
        || found.any(|place| folded.get(place.start..place.end).is_some_and(is_phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_ask_order_no_look() {
        for text in [
            "where is the pcap file?",
            "where is the pcap file",
            "which capture shows it?",
            "So the NSG is innocent?",
            "¿quién hizo el cambio?",
            "what would happen if I removed that deny?",
            "would restarting postgres help?",
            "is my fix going to expose the database to the internet?",
            "why did you not capture on db-1?",
            "did you capture on both ends",
            "could it be the route",
            "can you tell me whether web-2 reaches db-1 on 5432?",
            "could you explain the rule?",
            "please show me the packets",
            "tl;dr",
            "catch me up",
            "tell me who changed the NSG",
            "Thanks. Which rule is it?",
            "is web-2 blocked on 5432 too?",
            "can web-2 reach db-1 on port 5432?",
            "wo liegt die pcap?",
            "warum ist Port 5432 blockiert",
            "kannst du mir sagen, welche Regel es ist?",
            "welche Regel ist schuld?",
            "où est le fichier pcap ?",
            "pourquoi web-1 ne répond pas ?",
            "¿dónde está la captura?",
            "puedes explicarme la regla?",
            "dove trovo la cattura?",
            "onde está a captura?",
            "waar is de capture?",
            "gdzie jest plik pcap?",
            "где лежит pcap?",
            "почему порт 5432 закрыт",
            "де файл pcap?",
            "pcapファイルはどこですか",
            "なぜブロックされていますか？",
            "抓包文件在哪里？",
            "为什么被拒绝",
            "캡처 파일은 어디에 있나요?",
            "pcap dosyası nerede?",
            "pcap kahan hai?",
            "var finns pcap-filen?",
            "hvor er pcap-filen?",
            "kde je pcap soubor?",
            "unde este captura?",
            "hol van a pcap fájl?",
            "di mana file pcap?",
            "أين ملف pcap؟",
            "איפה קובץ ה-pcap?",
            "who opened the port?",
            "how do I fix it?",
            "do I have to restart web-1?",
            "when did it begin?",
            "any idea who changed it",
            "and the firewall?",
            "should we capture on web-1?",
            "capture file?",
            "ping times?",
            "もう一度説明してください",
            "ルールを教えて",
        ] {
            assert_eq!(request(text), Request::Question, "{text}");
        }
    }

    #[test]
    fn an_order_and_a_complaint_are_a_new_look() {
        for text in [
            "look once more",
            "go on",
            "now check the firewall of web-9",
            "please capture on web-1",
            "can you check db-1 as well?",
            "could you please capture on both ends?",
            "would you look at the route of web-2?",
            "check again whether web-1 is slow",
            "check the routes and tell me",
            "web-2 cannot reach db-1 on 5432",
            "web-9 can't reach db-2 on 5432, can you check?",
            "it still does not work",
            "still failing",
            "does not work",
            "I want you to test it again",
            "kannst du bitte db-1 prüfen?",
            "prüfe bitte web-2",
            "web-2 erreicht db-1 nicht",
            "puedes revisar el firewall de web-9?",
            "peux-tu vérifier web-2 ?",
            "puoi controllare web-2?",
            "sprawdź web-2",
            "проверь web-2",
            "можешь проверить web-2?",
            "web-2を確認してください",
            "もう一度確認して",
            "请检查 web-2",
            "web-2 확인해 주세요",
            "web-2 kontrol et",
            "compare with baseline before-maintenance",
            "xyzzy web-1 plugh db-1 8443",
        ] {
            assert_eq!(request(text), Request::Look, "{text}");
        }
    }

    #[test]
    fn a_remark_orders_nothing() {
        for text in [
            "ok",
            "lgtm",
            "thanks!",
            "I saved the pcap file",
            "we will change it tomorrow",
            "I removed the rule deny-5432 of web-nsg",
            "so the NSG is innocent",
            "👍",
            "",
        ] {
            assert_eq!(request(text), Request::Remark, "{text}");
        }
    }

    #[test]
    fn help_within_a_question_asks_for_no_help() {
        assert!(asks_about_bot("what can you do?") && asks_about_bot("help me"));
        assert!(!asks_about_bot("would restarting postgres help?"));
    }
}
