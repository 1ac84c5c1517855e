//! What holds for any text.

use proptest::prelude::*;

use super::super::{read, resolve};
use super::{estate, flows};

proptest! {
    #[test]
    fn no_text_makes_it_fail(text in any::<String>()) {
        let _ = resolve(&read(&text), &estate());
    }

    #[test]
    fn no_text_of_such_words_makes_it_fail(
        words in proptest::collection::vec(
            prop_oneof![
                Just("shop-app-1"), Just("10.1.3.10:5432"), Just("->"), Just("not"), Just("the NSG"), Just("からの"), Just("(1)"),
                Just("2)"), Just("is ok"), Just("hangs"), Just(","), Just(".\n"), Just("the database"), Just("8443"), Just("ping"),
                Just("Also"), Just("shop"), Just("::1"), Just("https://"), Just("ß"), Just("🙂"), Just("from"), Just("und"),
            ],
            0..30,
        ),
        glue in prop_oneof![Just(" "), Just("")],
    ) {
        let text = words.join(glue);
        let one = resolve(&read(&text), &estate());
        prop_assert_eq!(one, resolve(&read(&text), &estate()));
    }

    /// Letters of other scripts around them change neither the ends nor the port.
    #[test]
    fn ends_and_ports_stand_in_any_script(
        before in "[жыь\u{4e01}-\u{4e06}\u{3042}\u{3046}\u{0e0e}-\u{0e10}]{0,6}",
        middle in "[жыь\u{4e01}-\u{4e06}\u{3042}\u{3046}\u{0e0e}-\u{0e10}]{1,6}",
        behind in "[жыь\u{4e01}-\u{4e06}\u{3042}\u{3046}\u{0e0e}-\u{0e10}]{0,6}",
    ) {
        let text = format!("{before}shop-app-1{middle}shop-db:5432{behind}");
        prop_assert_eq!(flows(&text), "shop-app-1>shop-db:5432", "{}", text);
    }
}
