//! Letters as they are compared: small, without accents, with the digits and signs of other scripts as ASCII.

/// Returns a text in the letters that are compared. It has as many characters as before.
pub(super) fn fold(text: &str) -> String {
    text.chars().map(fold_char).collect()
}

fn fold_char(char: char) -> char {
    let char = match char {
        // Full-width signs and digits.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(char) - 0xfee0).unwrap_or(char),
        '\u{2018}' | '\u{2019}' | '\u{02bc}' | '`' | '´' => '\'',
        '\u{201c}' | '\u{201d}' | '„' => '"',
        '\u{2010}' | '\u{2011}' | '\u{2212}' => '-',
        '\u{00a0}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'
        | '\u{3000}'
        | '\u{feff}' => ' ',
        _ => char,
    };
    let char = digit(char).unwrap_or(char);
    let mut lower = char.to_lowercase();
    let char = lower.next().unwrap_or(char);
    match char {
        'à'..='å'
        | 'ā'
        | 'ă'
        | 'ą'
        | 'ạ'
        | 'ả'
        | 'ấ'
        | 'ầ'
        | 'ẩ'
        | 'ẫ'
        | 'ậ'
        | 'ắ'
        | 'ằ'
        | 'ẳ'
        | 'ẵ'
        | 'ặ' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' | 'đ' | 'ð' => 'd',
        'è'..='ë' | 'ē' | 'ę' | 'ě' | 'ẹ' | 'ẻ' | 'ẽ' | 'ế' | 'ề' | 'ể' | 'ễ' | 'ệ' => {
            'e'
        }
        'ğ' => 'g',
        'ì'..='ï' | 'ī' | 'ı' | 'ị' | 'ỉ' | 'ĩ' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö'
        | 'ø'
        | 'ō'
        | 'ő'
        | 'ọ'
        | 'ỏ'
        | 'ố'
        | 'ồ'
        | 'ổ'
        | 'ỗ'
        | 'ộ'
        | 'ơ'
        | 'ớ'
        | 'ờ'
        | 'ở'
        | 'ỡ'
        | 'ợ' => 'o',
        'ř' => 'r',
        'ś' | 'š' | 'ş' | 'ș' | 'ß' => 's',
        'ť' | 'ţ' | 'ț' => 't',
        'ù'..='ü' | 'ū' | 'ů' | 'ű' | 'ụ' | 'ủ' | 'ũ' | 'ư' | 'ứ' | 'ừ' | 'ử' | 'ữ' | 'ự' => {
            'u'
        }
        'ý' | 'ÿ' | 'ỳ' | 'ỵ' | 'ỷ' | 'ỹ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'ё' => 'е',
        'ά' => 'α',
        'έ' => 'ε',
        'ή' => 'η',
        'ί' => 'ι',
        'ό' => 'ο',
        'ύ' => 'υ',
        'ώ' => 'ω',
        _ => char,
    }
}

fn digit(char: char) -> Option<char> {
    let zero = match char {
        '\u{0660}'..='\u{0669}' => 0x0660,
        '\u{06f0}'..='\u{06f9}' => 0x06f0,
        '\u{0966}'..='\u{096f}' => 0x0966,
        _ => return None,
    };
    char::from_digit(u32::from(char) - zero, 10)
}

/// Tells whether a letter belongs to a script that leaves no space between words.
pub(super) fn is_unspaced(char: char) -> bool {
    matches!(char,
        '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_full_width_digits_and_quotes_do_not_matter() {
        assert_eq!(fold("NIE DZIAŁA „８４４３” ça ２２ ९८ l’été"), "nie dziala \"8443\" ca 22 98 l'ete");
    }

    #[test]
    fn a_text_keeps_its_length() {
        for text in ["İstanbul ß ŉ ǰ ﬁ", "web-1から\u{200b}db"] {
            assert_eq!(fold(text).chars().count(), text.chars().count());
        }
    }
}
