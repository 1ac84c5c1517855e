//! The gates, in the words in which a model is told of them.

/// The name of each gate and what it holds. The code that holds it bears the same name.
pub const GATES: [(&str, &str); 6] = [
    (
        "hypotheses_first",
        "No diagnostic runs while the board is empty. An empty board is filled again; it is never an end.",
    ),
    (
        "board_settled",
        "No hypothesis is ACTIVE at the end. Each is CONFIRMED, REFUTED, CONTRADICTED or UNVERIFIABLE.",
    ),
    (
        "claims_match_board",
        "What you claim of a hypothesis at the end is what the board says, and every id in it exists.",
    ),
    (
        "findings_hold",
        "Every finding has a known code, a well-formed object and existing observations; its quotes stand in them, and \
         what code can read there bears the claim out.",
    ),
    (
        "denied_stays_denied",
        "What a human denied is not proposed again. The third denial for a hypothesis makes it UNVERIFIABLE.",
    ),
    (
        "no_repetition",
        "The same call with the same arguments, again and again, is refused: its answer is there.",
    ),
];
