//! One message per session, updated in place: an overview of where it stands.

use crate::bot::show::activity::{Activity, activity};
use crate::bot::show::amount::{count, minutes, number_of};
use crate::bot::show::block::{
    Line, TaskStatus, Tone, button, confirm, lines, named_actions, plan, say, small, task,
};
use crate::bot::show::message::MAX_FALLBACK_LEN;
use crate::bot::show::text::{escape, prose, short};
use crate::bot::show::{Frozen, Message, RenderContext, headline, not_read, outside};
use ghost_base::Timestamp;
use ghost_investigate::complaint::outline;
use ghost_investigate::event::{Passage, PassagePlace, RECHECK_PROVIDER};
use ghost_investigate::report::{Board, Budget, Check, Current, Mark, hypothesis_subject, without_ids};
use ghost_investigate::state::State;
use ghost_investigate::{Fence, Hypothesis, HypothesisState};
use ghost_slack::web::{Streamed, StreamedTask};

/// How many hypotheses are shown; the others are counted.
const HYPOTHESES: usize = 10;

/// How many checks are shown; older ones are counted.
const CHECKS: usize = 5;

/// Returns the board of a session.
#[must_use]
pub fn board(state: &State, context: &RenderContext, now: Timestamp) -> Message {
    if let Some(asked) = &state.opened.outside {
        return outside::draw(state, asked, context);
    }
    let board = Board::of(state, now);
    let over = matches!(board.current, Current::Over { .. });
    let mut blocks = Vec::new();
    // When it is over the answer stands below, and says what was found and what is clear.
    if !over {
        blocks.push(say(title(state, &board)));
        blocks.extend(not_read(&state.opened.gathered.unread).map(|line| small(&line)));
        match context.plan && !board.hypotheses.is_empty() {
            true => blocks.push(plan_of(&board)),
            false => {
                blocks.extend(Some(hypotheses(&board.hypotheses)).filter(|line| !line.is_empty()).map(say))
            }
        }
        let work = checks(&board.checks).below(current(state, &board, context));
        blocks.extend(Some(work).filter(|line| !line.is_empty()).map(say));
    }
    let notices = [
        context.frozen.as_ref().filter(|_| !over).map(|frozen| notice(frozen, context)),
        trouble(context),
        taken_over(state),
    ];
    blocks.extend(notices.into_iter().flatten().map(say));
    let spent = if over { done(&board) } else { spent(&board) };
    blocks.push(small(&format!("{spent}{}", scripted_by(state))));
    blocks.extend((!over).then(|| named_actions("board", buttons(&board.session))));
    Message { text: fallback(state, &board, context), blocks }
}

fn title(state: &State, board: &Board) -> Line {
    let line = Line::new().bold("On it.").text(&format!(" Session {} · ", board.session));
    line.text(&subject_of(state, board))
}

/// Says what is looked at, and where it was taken from if nobody wrote all of it in the mention.
fn subject_of(state: &State, board: &Board) -> String {
    let passages = &state.opened.gathered.passages;
    let Some(source) = passages.iter().find(|passage| passage.place != PassagePlace::Mention) else {
        return prose(&board.symptom, 200);
    };
    let own = passages.iter().find(|passage| passage.place == PassagePlace::Mention);
    let own = own.filter(|own| !outline(&own.text).is_bare).map(|own| prose(&own.text, 120));
    let others = passages.iter().filter(|passage| passage.place != PassagePlace::Mention).count();
    let more = if others > 1 { format!(" (and {} more)", number_of(others - 1)) } else { String::new() };
    let taken = format!("from {}{more}: {}", place_of(source), prose(&source.text, 160));
    own.map_or_else(|| taken.clone(), |own| format!("{own} · {taken}"))
}

/// Says where a passage stands, in the words of whoever reads the thread.
fn place_of(passage: &Passage) -> String {
    let name = prose(passage.who.strip_prefix("bot ").unwrap_or(&passage.who), 60);
    let what = if passage.by_program { "alert" } else { "message" };
    match passage.place {
        PassagePlace::Mention => format!("{name}'s {what}"),
        PassagePlace::Forwarded => format!("{name}'s forwarded {what}"),
        PassagePlace::Linked => format!("{name}'s linked {what}"),
        PassagePlace::Table => "the table below the mention".to_owned(),
        PassagePlace::File => format!("the file {name}"),
        PassagePlace::Root => format!("{name}'s {what} at the top of this thread"),
        PassagePlace::Reply => format!("{name}'s {what} in this thread"),
        PassagePlace::Channel => format!("{name}'s {what} in this channel"),
    }
}

/// The words with which a board begins that is written while it is read.
#[must_use]
pub fn first_words(session: &str) -> String {
    format!("On it. Session {session}.")
}

/// Returns a board that is written while it is read: in a direct conversation, where whoever asked is all who read it, as long as it
/// only goes forward. What waits for somebody, is held back, in trouble or over is drawn as a whole.
#[must_use]
pub fn streamed(state: &State, context: &RenderContext, now: Timestamp) -> Option<Streamed> {
    let is_direct = state.opened.origin.channel.as_deref().is_some_and(|channel| channel.starts_with('D'));
    let goes_on = matches!(activity(state), Activity::Doing(_))
        && context.frozen.is_none()
        && context.trouble.is_none()
        && taken_over(state).is_none();
    if !is_direct || !goes_on || !context.plan || state.opened.outside.is_some() {
        return None;
    }
    let board = Board::of(state, now);
    // How long a model has been thinking stands where all of it is drawn.
    let is_slow = matches!(board.current, Current::Thinking { since: Some(_), .. });
    if board.hypotheses.len() > HYPOTHESES || is_slow {
        return None;
    }
    // A model's reasons are not streamed: what stands there is read as Markdown.
    let task = |(place, one): (usize, &Hypothesis)| StreamedTask {
        id: format!("{} {}", place + 1, short(&one.id, 100)),
        title: short(&subject(one), 200),
        status: progress(one.state).word().to_owned(),
        output: match (one.state == HypothesisState::Active, hypothesis_subject(&one.id)) {
            (true, _) => String::new(),
            (false, Some(_)) => said_of_subject(one.state).to_owned(),
            (false, None) => word(one.state).1.to_owned(),
        },
    };
    Some(Streamed {
        words: first_words(&board.session),
        blocks: vec![
            say(Line::new().text(&subject_of(state, &board))),
            named_actions("board", buttons(&board.session)),
        ],
        title: (!board.hypotheses.is_empty()).then(|| plan_title(&board)),
        tasks: board.hypotheses.iter().enumerate().map(task).collect(),
    })
}

fn fallback(state: &State, board: &Board, context: &RenderContext) -> String {
    let doing = match activity(state) {
        Activity::Over => headline(state),
        Activity::Waiting => "waiting for an approval".to_owned(),
        Activity::Doing(_) if context.frozen.is_some() => "frozen".to_owned(),
        Activity::Doing(doing) => doing.to_owned(),
        Activity::Stuck => "waiting for its model".to_owned(),
    };
    let symptom = prose(&board.symptom, MAX_FALLBACK_LEN / 2);
    format!("Session {}: {doing} · {}", board.session, escape(&symptom))
}

/// A hypothesis in a word, with a sign beside it.
fn word(state: HypothesisState) -> (&'static str, &'static str) {
    match state {
        HypothesisState::Active => ("○", "being checked"),
        HypothesisState::Confirmed => ("✘", "confirmed"),
        HypothesisState::Refuted => ("✔", "ruled out"),
        HypothesisState::Unverifiable => ("?", "could not be checked"),
        HypothesisState::Contradicted => ("?", "contradicted"),
        HypothesisState::Withdrawn => ("–", "dropped"),
    }
}

/// Returns the hypotheses that are shown, and those that are counted.
fn split(all: &[Hypothesis]) -> (Vec<&Hypothesis>, Vec<&Hypothesis>) {
    // Where there are too many, those that are alive come first; otherwise the order is the one of the report.
    let mut shown = all.iter().collect::<Vec<_>>();
    if all.len() > HYPOTHESES {
        shown.sort_by_key(|hypothesis| match hypothesis.state {
            HypothesisState::Confirmed => 0,
            HypothesisState::Active | HypothesisState::Contradicted => 1,
            HypothesisState::Unverifiable | HypothesisState::Refuted | HypothesisState::Withdrawn => 2,
        });
    }
    let folded = shown.split_off(HYPOTHESES.min(shown.len()));
    (shown, folded)
}

fn more(folded: &[&Hypothesis]) -> Option<String> {
    let live = folded.iter().filter(|one| one.state == HypothesisState::Active).count();
    (!folded.is_empty())
        .then(|| format!("… and {} more, {} of them in test", number_of(folded.len()), number_of(live)))
}

fn hypotheses(all: &[Hypothesis]) -> Line {
    let (shown, folded) = split(all);
    let shown_lines = lines(shown.into_iter().map(hypothesis));
    match more(&folded) {
        Some(more) => shown_lines.below(Line::new().italic(&more)),
        None => shown_lines,
    }
}

fn hypothesis(hypothesis: &Hypothesis) -> Line {
    let (sign, _) = word(hypothesis.state);
    Line::new().text(&format!("{sign} {}: ", subject(hypothesis))).then(outcome(hypothesis))
}

/// Returns what stands above the tasks of a plan.
fn plan_title(board: &Board) -> String {
    let all = board.hypotheses.len();
    format!("Checked {} of {}", number_of(board.looked_at.len()), count(all, "possible cause"))
}

/// Returns how far the task of a hypothesis is.
fn progress(state: HypothesisState) -> TaskStatus {
    match state {
        HypothesisState::Active => TaskStatus::InProgress,
        HypothesisState::Confirmed | HypothesisState::Refuted | HypothesisState::Withdrawn => {
            TaskStatus::Complete
        }
        HypothesisState::Unverifiable | HypothesisState::Contradicted => TaskStatus::Failed,
    }
}

/// The hypotheses as tasks of a plan: what is checked, and what came of it.
fn plan_of(board: &Board) -> serde_json::Value {
    let (shown, folded) = split(&board.hypotheses);
    let title = plan_title(board);
    let mut tasks: Vec<serde_json::Value> = shown
        .into_iter()
        .enumerate()
        .map(|(place, one)| {
            let output = match one.state {
                HypothesisState::Active if board.looked_at.contains(&one.id) => Line::new().text("looked at"),
                HypothesisState::Active => Line::new(),
                HypothesisState::Confirmed
                | HypothesisState::Refuted
                | HypothesisState::Unverifiable
                | HypothesisState::Contradicted
                | HypothesisState::Withdrawn => outcome(one),
            };
            let id = format!("{} {}", place + 1, short(&one.id, 100));
            task(&id, &subject(one), progress(one.state), output)
        })
        .collect();
    let rest = if folded.iter().any(|one| one.state == HypothesisState::Active) {
        TaskStatus::InProgress
    } else {
        TaskStatus::Complete
    };
    tasks.extend(more(&folded).map(|more| task("more", &more, rest, Line::new())));
    plan(&title, tasks)
}

/// What a hypothesis is about. The playbook supposes something of each subject; a model says in its own words what it supposes.
fn subject(hypothesis: &Hypothesis) -> String {
    let what = match hypothesis_subject(&hypothesis.id) {
        Some(subject) => capital(subject),
        None => prose(hypothesis.description.trim_end_matches('.'), 140),
    };
    let what = if what.trim().is_empty() { short(&hypothesis.id, 20) } else { what };
    if what.trim().is_empty() { "A possible cause".to_owned() } else { what }
}

/// What came of a hypothesis.
fn outcome(hypothesis: &Hypothesis) -> Line {
    let word = match hypothesis_subject(&hypothesis.id) {
        Some(_) => said_of_subject(hypothesis.state),
        None => word(hypothesis.state).1,
    };
    let line = match hypothesis.state {
        HypothesisState::Confirmed => Line::new().bold(word),
        HypothesisState::Active
        | HypothesisState::Refuted
        | HypothesisState::Unverifiable
        | HypothesisState::Contradicted
        | HypothesisState::Withdrawn => Line::new().text(word),
    };
    // What was ruled out needs no reason here: the report has it.
    let tells = matches!(hypothesis.state, HypothesisState::Unverifiable | HypothesisState::Contradicted);
    match hypothesis.why.as_deref().filter(|why| tells && !why.trim().is_empty()) {
        Some(why) => line.text(&format!(" ({})", prose(&without_ids(&Fence::without_markers(why)), 80))),
        None => line,
    }
}

/// Says of a subject of the playbook what came of looking at it.
fn said_of_subject(state: HypothesisState) -> &'static str {
    match state {
        HypothesisState::Active => "being checked",
        HypothesisState::Confirmed => "at fault",
        HypothesisState::Refuted => "clear",
        HypothesisState::Unverifiable => "could not be checked",
        HypothesisState::Contradicted => "contradicted",
        HypothesisState::Withdrawn => "not checked",
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}

fn checks(all: &[Check]) -> Line {
    let older = all.len().saturating_sub(CHECKS);
    let earlier = match older {
        0 => Line::new(),
        _ => Line::new().italic(&format!("… and {}", count(older, "earlier check"))),
    };
    earlier.below(lines(all.iter().skip(older).map(check)))
}

fn check(check: &Check) -> Line {
    let sign = match check.mark {
        Mark::Good => "✔",
        Mark::Bad => "✘",
        Mark::Unknown => "?",
    };
    let line = Line::new().text(&format!("{sign} {}", short(&check.what, 140)));
    match &check.problem {
        Some(problem) => line.text(" · ").text(&prose(problem, 100)),
        None => line,
    }
}

fn current(state: &State, board: &Board, context: &RenderContext) -> Line {
    match (&board.current, activity(state)) {
        (Current::Over { .. }, _) => Line::new(),
        (Current::Waiting { votes, votes_needed, until, .. }, _) => {
            let line = Line::new().text("▸ ").bold("waiting for an approval").text(", ");
            let line = if *votes_needed > 1 {
                line.text(&format!("{votes} of {votes_needed} so far, "))
            } else {
                line
            };
            let line = line.text("until ").time(*until, "{time}");
            match &context.card {
                Some(card) => line.text(" · ").link(Some(card), "open the card"),
                None => line,
            }
        }
        (Current::Stuck { problem }, _) => Line::new()
            .text("▸ ")
            .bold("no answer from the model")
            .text(&format!(": {}", prose(problem, 200))),
        (Current::Thinking { since: Some(since), .. }, Activity::Doing(_)) => {
            Line::new().text(&format!("▸ the model has been thinking for {} s …", since.as_secs()))
        }
        (Current::Thinking { .. } | Current::Running { .. } | Current::Idle, Activity::Doing(doing)) => {
            Line::new().text(&format!("▸ {doing} …"))
        }
        (Current::Thinking { .. } | Current::Running { .. } | Current::Idle, _) => {
            Line::new().text("▸ waiting …")
        }
    }
}

/// Says that everything is frozen.
pub(super) fn notice(frozen: &Frozen, context: &RenderContext) -> Line {
    let line = Line::new().bold("Frozen").text(" by ").person(&context.people.find(&frozen.by)).text(" at ");
    let line = line.time(frozen.at, "{time}").text(": nothing new runs until it is thawed.");
    if frozen.reason.trim().is_empty() {
        line
    } else {
        line.text(&format!(" {}", prose(&frozen.reason, 300)))
    }
}

fn trouble(context: &RenderContext) -> Option<Line> {
    context
        .trouble
        .as_deref()
        .map(|trouble| Line::new().bold("Trouble").text(&format!(": {}", prose(trouble, 300))))
}

/// Says so where another one thinks than the one with whom it began.
fn taken_over(state: &State) -> Option<Line> {
    let (first, now) = (&state.opened.investigator, &state.turns().next_back()?.investigator);
    // A check of what was fixed asks no investigator, and none failed.
    let same = first.provider == now.provider && first.model == now.model || now.provider == RECHECK_PROVIDER;
    let named = |provider: &str, model: &str| match provider {
        "playbook" => "the playbook".to_owned(),
        provider => prose(format!("{provider} {model}").trim_end(), 100),
    };
    let (first, now) = (named(&first.provider, &first.model), named(&now.provider, &now.model));
    (!same).then(|| {
        Line::new().bold("Taken over").text(&format!(": {first} failed, and {now} goes on in its place."))
    })
}

/// Says so where no model and no engineer decides what comes next.
fn scripted_by(state: &State) -> String {
    let investigator = &state.opened.investigator;
    match (investigator.provider.as_str(), investigator.model.as_str()) {
        ("scripted", "") => " · told by a script".to_owned(),
        ("scripted", title) => format!(" · told by a script: {}", prose(title, 100)),
        _ => String::new(),
    }
}

/// Says how long it took, and where the answer is.
fn done(board: &Board) -> String {
    let took = minutes(board.elapsed);
    let commands = board.budget.iter().find(|budget| budget.what == "commands");
    let commands = commands.and_then(|budget| usize::try_from(budget.used).ok()).unwrap_or_default();
    format!("✔ Done in {took}, {}. The answer is below.", count(commands, "command"))
}

fn spent(board: &Board) -> String {
    let mut words = vec![minutes(board.elapsed)];
    words.extend(board.budget.iter().filter(|budget| tells(budget)).map(|budget| {
        if budget.limit == 0 {
            format!("{} {}", budget.used, budget.what)
        } else {
            format!("{} of {} {}", budget.used, budget.limit, budget.what)
        }
    }));
    words.join(" · ")
}

/// Commands are always shown, the others when little is left.
fn tells(budget: &Budget) -> bool {
    budget.what == "commands" || (budget.limit > 0 && budget.used >= budget.limit / 2)
}

fn buttons(session: &str) -> Vec<serde_json::Value> {
    let audit = button("audit", "Audit", session, Tone::Normal, None);
    let sure = confirm(
        "Stop the investigation?",
        "It ends with what it has and reports it. A command that runs now is not called back.",
        "Stop",
        "Go on",
        Tone::Danger,
    );
    vec![
        button("stop", "Stop", session, Tone::Danger, Some(sure)),
        button("report", "Report now", session, Tone::Normal, None),
        audit,
    ]
}
