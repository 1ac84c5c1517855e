//! The board on a terminal.

use crate::HypothesisState;
use crate::report::amount::clock;
use crate::report::board::{Board, Budget, Check, Current, Mark};
use crate::report::spell::{fit, plain};

/// How many checks are shown; older ones are counted.
const CHECKS: usize = 8;

/// A style of a terminal, by its number.
#[derive(Debug, Clone, Copy)]
enum Style {
    Normal,
    Bold,
    Faint,
    Good,
    Warning,
    Bad,
}

impl Board {
    /// Draws the board for a terminal: lines of at most so many columns, without a character that a terminal obeys
    /// other than the colors, where they are wanted.
    #[must_use]
    pub fn lines(&self, width: usize, color: bool) -> Vec<String> {
        let title = format!("{} · {} · {}", self.session, self.standing, clock(self.elapsed));
        let mut lines = vec![(title, Style::Bold), (format!("  {}", self.symptom), Style::Normal)];
        lines.extend(self.hypotheses.iter().map(|hypothesis| {
            let (id, state, description) = (&hypothesis.id, hypothesis.state, &hypothesis.description);
            let why = hypothesis.why.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
            (format!("  {id:<4} {state:<12}  {description}{why}"), style(state))
        }));
        let older = self.checks.len().saturating_sub(CHECKS);
        if older > 0 {
            lines.push((format!("  … {older} earlier"), Style::Faint));
        }
        lines.extend(self.checks.iter().skip(older).map(check));
        lines.extend(self.current_line());
        let budget = self.budget.iter().filter(|budget| budget.limit > 0 || budget.used > 0).map(left);
        lines.push((format!("  {}", budget.collect::<Vec<_>>().join(" · ")), Style::Faint));
        lines.into_iter().map(|(line, style)| paint(&fit(&plain(&line), width), style, color)).collect()
    }

    fn current_line(&self) -> Vec<(String, Style)> {
        match &self.current {
            Current::Idle => Vec::new(),
            Current::Thinking { turn } => vec![(format!("  ▸ thinking, turn {turn}"), Style::Normal)],
            Current::Running { step, command } => vec![(format!("  ▸ {step} {command}"), Style::Normal)],
            Current::Waiting { step, command, votes, votes_needed, until, .. } => vec![
                (format!("  ▸ {step} {command}"), Style::Normal),
                (format!("    waits for approval, {votes} of {votes_needed}, until {until}"), Style::Warning),
            ],
            Current::Stuck { problem } => vec![(format!("  ▸ no answer: {problem}"), Style::Warning)],
            Current::Over { outcome, confidence } => {
                vec![(format!("  ▸ {outcome}, confidence {confidence}"), Style::Bold)]
            }
        }
    }
}

fn style(state: HypothesisState) -> Style {
    match state {
        HypothesisState::Active => Style::Normal,
        HypothesisState::Confirmed => Style::Good,
        HypothesisState::Refuted | HypothesisState::Withdrawn => Style::Faint,
        HypothesisState::Unverifiable | HypothesisState::Contradicted => Style::Warning,
    }
}

fn check(check: &Check) -> (String, Style) {
    let (mark, style) = match check.mark {
        Mark::Good => ('✔', Style::Good),
        Mark::Bad => ('✘', Style::Bad),
        Mark::Unknown => ('?', Style::Warning),
    };
    let ids = check.observations.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let ids = if ids.is_empty() { ids } else { format!(" ({ids})") };
    let hypothesis = check.hypothesis.as_deref().map(|id| format!(" → {id}")).unwrap_or_default();
    let problem = check.problem.as_deref().map(|problem| format!("{problem}: ")).unwrap_or_default();
    (format!("  {mark}{ids}{hypothesis} {problem}{}", check.what), style)
}

fn left(budget: &Budget) -> String {
    match budget.left() {
        Some(left) => format!("{left} {} left", budget.what),
        None => format!("{} {}", budget.used, budget.what),
    }
}

fn paint(line: &str, style: Style, color: bool) -> String {
    let code = match style {
        Style::Normal => None,
        Style::Bold => Some("1"),
        Style::Faint => Some("2"),
        Style::Good => Some("32"),
        Style::Warning => Some("33"),
        Style::Bad => Some("31"),
    };
    match code.filter(|_| color) {
        Some(code) => format!("\u{1b}[{code}m{line}\u{1b}[0m"),
        None => line.to_owned(),
    }
}
