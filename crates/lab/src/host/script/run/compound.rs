//! Lists, pipelines, conditions and loops.

use std::rc::Rc;
use std::time::Duration;

use super::shell::{Flow, Input, Io, Shell, Target};
use super::wrapper::duration;
use crate::host::script::pattern;
use crate::host::script::tree::{Command, Item, Kind, Link, List, Pipeline};

impl Shell<'_> {
    /// Runs commands one after the other.
    pub(in crate::host::script) fn list(&mut self, list: &List, io: &Io) -> Flow {
        for item in list {
            let flow = if item.background { self.background(item, io) } else { self.item(item, io) };
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    /// Starts a program and leaves it; anything else is run at once.
    fn background(&mut self, item: &Item, io: &Io) -> Flow {
        let io = Io { input: Input::of(Vec::new()), ..io.clone() };
        if let (true, [command]) = (item.rest.is_empty(), item.first.parts.as_slice())
            && let Kind::Simple { words, .. } = &command.kind
            && command_is_program(command)
        {
            let argv = match self.fields(words, &io) {
                Ok(argv) => argv,
                Err(flow) => return flow,
            };
            let (argv, lasts) = peel(argv);
            if argv.first().is_some_and(|program| self.calls.find(program).is_some()) {
                // The file for its output is there at once; what it prints later is added to it.
                let output = self.redirected(&command.redirects, &io).ok().flatten();
                let number = self.calls.start(&argv);
                if let Some(Target::File(path)) = output.as_ref().and_then(|io| io.targets.get(&1)) {
                    self.calls.prints_to(number, path);
                }
                if let Some(lasts) = lasts {
                    self.calls.lasts(number, lasts);
                }
                self.started = Some(number);
                self.status = 0;
                return Flow::Next;
            }
        }
        let flow = self.item(item, &io);
        self.started.get_or_insert(4_242);
        self.status = 0;
        if flow == Flow::Killed { flow } else { Flow::Next }
    }

    fn item(&mut self, item: &Item, io: &Io) -> Flow {
        let mut flow = self.guarded(&item.first, io, !item.rest.is_empty());
        for (at, (link, pipeline)) in item.rest.iter().enumerate() {
            if flow != Flow::Next {
                return flow;
            }
            let good = self.status == 0;
            if good == (*link == Link::And) {
                flow = self.guarded(pipeline, io, at + 1 < item.rest.len());
            }
        }
        flow
    }

    /// Runs a pipeline; one that is asked as a condition may fail.
    fn guarded(&mut self, pipeline: &Pipeline, io: &Io, asked: bool) -> Flow {
        let guard = u32::from(asked || pipeline.negated);
        self.conditional += guard;
        let flow = self.pipeline(pipeline, io);
        self.conditional -= guard;
        let fails = self.status != 0 && self.options.errexit && self.conditional == 0;
        if flow == Flow::Next && fails && !asked && !pipeline.negated { Flow::Exit } else { flow }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, io: &Io) -> Flow {
        let flow = match pipeline.parts.as_slice() {
            [one] => self.command(one, io),
            parts => self.piped(parts, io),
        };
        if pipeline.negated && flow == Flow::Next {
            self.status = u8::from(self.status == 0);
        }
        flow
    }

    fn piped(&mut self, parts: &[Command], io: &Io) -> Flow {
        let mut input = io.input.clone();
        let mut worst = 0;
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let mut own = Io { input: input.clone(), targets: io.targets.clone() };
            let buffer = if last { None } else { Some(self.open()) };
            if let Some(buffer) = buffer {
                own.targets.insert(1, Target::Buffer(buffer));
            }
            // Each part is a shell of its own: what it sets is gone behind it.
            let flow = self.apart(|shell| shell.command(part, &own));
            let taken = buffer.map(|buffer| self.close(buffer)).unwrap_or_default();
            if flow == Flow::Killed {
                return flow;
            }
            if self.status != 0 {
                worst = self.status;
            }
            input = Input::of(taken);
        }
        if self.options.pipefail {
            self.status = worst;
        }
        Flow::Next
    }

    /// Runs something as a shell of its own.
    pub(super) fn apart(&mut self, run: impl FnOnce(&mut Self) -> Flow) -> Flow {
        let held: usize = self.variables.values().map(String::len).sum();
        // A copy of what is held costs, or a loop over it would cost without bound.
        if let Err(flow) = self.spend(held / 8) {
            return flow;
        }
        let variables = self.variables.clone();
        let functions = self.functions.clone();
        let (arguments, options) = (self.arguments.clone(), self.options);
        let flow = run(self);
        self.variables = variables;
        self.functions = functions;
        (self.arguments, self.options) = (arguments, options);
        if flow == Flow::Killed { flow } else { Flow::Next }
    }

    pub(super) fn command(&mut self, command: &Command, io: &Io) -> Flow {
        self.line = command.line;
        let flow = self.step();
        if flow != Flow::Next {
            return flow;
        }
        if let Kind::Simple { assigns, words } = &command.kind {
            return self.simple(assigns, words, &command.redirects, io);
        }
        if let Err(flow) = self.deeper() {
            return flow;
        }
        let flow = match self.redirected(&command.redirects, io) {
            Ok(Some(io)) => self.compound(&command.kind, &io),
            Ok(None) => Flow::Next,
            Err(flow) => flow,
        };
        self.shallower();
        flow
    }

    fn compound(&mut self, kind: &Kind, io: &Io) -> Flow {
        match kind {
            Kind::Simple { .. } => Flow::Next,
            Kind::Test(words) => {
                self.status = self.conditional_expression(words, io);
                let fails = self.status != 0 && self.options.errexit && self.conditional == 0;
                if fails { Flow::Exit } else { Flow::Next }
            }
            Kind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    let flow = self.condition(condition, io);
                    if flow != Flow::Next {
                        return flow;
                    }
                    if self.status == 0 {
                        return self.list(body, io);
                    }
                }
                self.status = 0;
                otherwise.as_ref().map_or(Flow::Next, |body| self.list(body, io))
            }
            Kind::For { name, words, body } => {
                let values = match words {
                    Some(words) => match self.fields(words, io) {
                        Ok(values) => values,
                        Err(flow) => return flow,
                    },
                    None => self.arguments.clone(),
                };
                self.status = 0;
                for value in values {
                    self.variables.insert(name.clone(), value);
                    let flow = self.step();
                    if flow != Flow::Next {
                        return flow;
                    }
                    if let Some(flow) = around(self.list(body, io)) {
                        return flow;
                    }
                }
                Flow::Next
            }
            Kind::While { until, condition, body } => {
                let mut status = 0;
                loop {
                    let flow = self.step();
                    if flow != Flow::Next {
                        return flow;
                    }
                    let flow = self.condition(condition, io);
                    if flow != Flow::Next {
                        return around(flow).unwrap_or(Flow::Next);
                    }
                    if (self.status == 0) == *until {
                        self.status = status;
                        return Flow::Next;
                    }
                    if let Some(flow) = around(self.list(body, io)) {
                        return flow;
                    }
                    status = self.status;
                }
            }
            Kind::Case { word, arms } => {
                let value = match self.text(word, io) {
                    Ok(value) => value,
                    Err(flow) => return flow,
                };
                self.status = 0;
                for (patterns, body) in arms {
                    for choice in patterns {
                        match self.pattern(choice, io) {
                            Ok(choice) if pattern::matches(&choice, &value) => return self.list(body, io),
                            Ok(_) => {}
                            Err(flow) => return flow,
                        }
                    }
                }
                Flow::Next
            }
            Kind::Function { name, body } => {
                self.functions.insert(name.clone(), Rc::new((**body).clone()));
                self.status = 0;
                Flow::Next
            }
            Kind::Group(list) => self.list(list, io),
            Kind::Subshell(list) => {
                let flow = self.apart(|shell| shell.list(list, io));
                let fails = self.status != 0 && self.options.errexit && self.conditional == 0;
                if flow == Flow::Next && fails { Flow::Exit } else { flow }
            }
        }
    }

    fn condition(&mut self, list: &List, io: &Io) -> Flow {
        self.conditional += 1;
        let flow = self.list(list, io);
        self.conditional -= 1;
        flow
    }
}

/// What a loop makes of the end of its body; nothing where it goes on.
fn around(flow: Flow) -> Option<Flow> {
    match flow {
        Flow::Next | Flow::Continue(0 | 1) => None,
        Flow::Break(0 | 1) => Some(Flow::Next),
        Flow::Break(more) => Some(Flow::Break(more - 1)),
        Flow::Continue(more) => Some(Flow::Continue(more - 1)),
        Flow::Return | Flow::Exit | Flow::Killed => Some(flow),
    }
}

fn command_is_program(command: &Command) -> bool {
    match &command.kind {
        Kind::Simple { words, assigns } => !words.is_empty() && assigns.is_empty(),
        Kind::Test(_)
        | Kind::If { .. }
        | Kind::For { .. }
        | Kind::While { .. }
        | Kind::Case { .. }
        | Kind::Function { .. }
        | Kind::Group(_)
        | Kind::Subshell(_) => false,
    }
}

/// Takes off what only says how a program runs, and for how long at most.
fn peel(mut argv: Vec<String>) -> (Vec<String>, Option<Duration>) {
    let mut lasts: Option<Duration> = None;
    loop {
        match argv.first().map(String::as_str) {
            Some("nohup" | "sudo" | "setsid" | "exec") => {
                argv.remove(0);
                while argv.first().is_some_and(|word| matches!(word.as_str(), "-n" | "-E" | "-f")) {
                    argv.remove(0);
                }
            }
            Some("timeout") => {
                argv.remove(0);
                while argv.first().is_some_and(|word| matches!(word.as_str(), "-s" | "-k")) {
                    argv.drain(..2.min(argv.len()));
                }
                let Some(time) = argv.first().and_then(|word| duration(word)) else { return (argv, lasts) };
                argv.remove(0);
                lasts = Some(lasts.map_or(time, |before| before.min(time)));
            }
            _ => return (argv, lasts),
        }
    }
}
