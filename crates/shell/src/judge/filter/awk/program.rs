//! The reader of the subset: rules, statements, expressions.

use crate::judge::filter::scan::Scan;
use crate::policy::{Given, Refusal};

/// How deep parentheses, blocks and operators of one program nest.
const MAX_DEPTH: usize = 12;

/// The functions that only compute.
const FUNCTIONS: [&str; 11] =
    ["length", "split", "substr", "sprintf", "gsub", "sub", "match", "tolower", "toupper", "int", "index"];

/// The variables of the language that a program may read.
const SPECIAL: [&str; 11] =
    ["NR", "NF", "FNR", "FS", "OFS", "RS", "ORS", "FILENAME", "SUBSEP", "RSTART", "RLENGTH"];

/// The variables of the language that a program may set: they separate fields and records.
const SEPARATORS: [&str; 5] = ["FS", "OFS", "RS", "ORS", "SUBSEP"];

/// Words that are no variables in one awk or another.
const RESERVED: &str = "and asort asorti atan2 bindtextdomain break case close compl continue cos dcgettext dcngettext \
    default delete do else eval exit exp fflush for func function gensub getline gsub if in include index int isarray \
    length load log lshift match mkbool mktime namespace next nextfile or patsplit print printf rand return rshift sin \
    split sprintf sqrt srand strftime strtonum sub substr switch system systime tolower toupper typeof while xor";

/// Accepts `-F`, assignments without a backslash, and one program. If no deadline `ends` it, the program must not grow a
/// text from itself or nest its loops.
pub(in crate::judge) fn check(given: &Given<'_>, ends: bool) -> Result<(), Refusal> {
    if let Some(assignment) = given.values(&["-v"]).find(|word| !is_assignment(word)) {
        return Err(Refusal::value("-v", assignment));
    }
    let text = given.operands.first().ok_or_else(|| Refusal::missing("a program"))?;
    let mut program = Program {
        scan: Scan::new(text),
        depth: 0,
        loops: 0,
        in_braces: false,
        divisible: false,
        tally: Tally::default(),
    };
    if text.chars().any(char::is_control) || program.rules().is_none() {
        let what =
            "of awk only programs that pick, count and print are understood, without `>` inside braces";
        return Err(Refusal::new("value", what));
    }
    if !ends && program.tally.can_explode {
        let what = "the program can grow a text without bound, and no deadline ends it there";
        return Err(Refusal::new("endless", what));
    }
    Ok(())
}

/// `NAME=VALUE`. A backslash in the value is an escape to some awks.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        let settable = SEPARATORS.contains(&name) || (is_variable(name) && !SPECIAL.contains(&name));
        settable && !value.contains('\\') && !value.chars().any(char::is_control)
    })
}

/// True for a name that is a plain variable, or one of [`SPECIAL`], in every awk.
fn is_variable(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    // The awks' own variables are two or more capitals: `ARGV` and `ENVIRON` must not be read or set.
    let in_capitals = name.len() > 1 && !name.contains(|char: char| char.is_ascii_lowercase());
    plain
        && !RESERVED.split_ascii_whitespace().any(|word| word == name)
        && (!in_capitals || name.starts_with('_') || SPECIAL.contains(&name))
}

/// What the parser counted.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    /// Concatenations and `sprintf`.
    joins: usize,
    /// References to variables and elements of arrays.
    variables: usize,
    /// A text can double with each record or each round of a loop, or loops nest.
    can_explode: bool,
}

/// The target of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// A field: it lasts for one record.
    Field,
    /// A variable or an element of an array.
    Variable,
}

/// A program that is being read. Each method takes one construct and returns `None` if it is not understood.
struct Program<'t> {
    scan: Scan<'t>,
    depth: usize,
    /// How many loops are open.
    loops: usize,
    /// Inside braces `>` redirects, outside it compares.
    in_braces: bool,
    /// The last operand ended so that every awk takes a following `/` for a division.
    divisible: bool,
    tally: Tally,
}

impl<'t> Program<'t> {
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Takes blanks, then these characters.
    fn take(&mut self, text: &str) -> Option<()> {
        self.scan.blanks();
        self.scan.take(text).then_some(())
    }

    fn peek(&mut self) -> Option<char> {
        self.scan.blanks();
        self.scan.peek()
    }

    /// Returns the name that comes next, without taking it.
    fn next_name(&mut self) -> &'t str {
        self.scan.blanks();
        let mut ahead = self.scan;
        ahead.name()
    }

    /// Takes a name that is this word.
    fn word(&mut self, word: &str) -> Option<()> {
        let found = self.next_name() == word;
        if found {
            self.scan.name();
        }
        found.then_some(())
    }

    /// Takes the name of a variable that is none of the language's own.
    fn array(&mut self) -> Option<()> {
        self.scan.blanks();
        let name = self.scan.name();
        (is_variable(name) && !SPECIAL.contains(&name)).then_some(())
    }

    fn rules(&mut self) -> Option<()> {
        let mut rules = 0;
        loop {
            while self.take(";").is_some() {}
            if self.scan.is_done() {
                return (rules > 0).then_some(());
            }
            let has_block = self.rule()?;
            rules += 1;
            if !has_block && !matches!(self.peek(), None | Some(';')) {
                return None;
            }
        }
    }

    /// Takes a pattern, a block or both; true if it ends with a block.
    fn rule(&mut self) -> Option<bool> {
        if self.word("BEGIN").or_else(|| self.word("END")).is_some() {
            return self.block().map(|()| true);
        }
        if self.peek() != Some('{') {
            self.expression()?;
            if self.take(",").is_some() {
                self.expression()?;
            }
        }
        if self.peek() == Some('{') { self.block().map(|()| true) } else { Some(false) }
    }

    fn block(&mut self) -> Option<()> {
        self.take("{")?;
        let was_in_braces = std::mem::replace(&mut self.in_braces, true);
        self.deeper(Self::statements)?;
        self.in_braces = was_in_braces;
        Some(())
    }

    /// Takes the statements of a block and the brace behind them.
    fn statements(&mut self) -> Option<()> {
        let mut statements = 0;
        loop {
            while self.take(";").is_some() {}
            if self.take("}").is_some() {
                return (statements > 0).then_some(());
            }
            let has_block = self.statement()?;
            statements += 1;
            if !has_block && !matches!(self.peek(), Some(';' | '}')) {
                return None;
            }
        }
    }

    /// Takes one statement; true if it ends with a block.
    fn statement(&mut self) -> Option<bool> {
        if self.peek() == Some('{') {
            return self.block().map(|()| true);
        }
        match self.next_name() {
            "print" => self.print(),
            "printf" => self.printf(),
            "for" => return self.deeper(Self::for_each),
            "if" => return self.deeper(Self::condition),
            "delete" => {
                self.word("delete")?;
                self.array()?;
                if self.scan.take("[") { self.subscript() } else { Some(()) }
            }
            "next" => self.word("next"),
            "exit" => {
                self.word("exit")?;
                if self.at_end() { Some(()) } else { self.expression() }
            }
            _ => self.expression(),
        }
        .map(|()| false)
    }

    fn at_end(&mut self) -> bool {
        matches!(self.peek(), None | Some(';' | '}'))
    }

    fn print(&mut self) -> Option<()> {
        self.word("print")?;
        if self.at_end() {
            return Some(());
        }
        // `print (a, b)`: the parentheses are around the list, not around one expression.
        let before = (self.scan, self.tally);
        if self.take("(").is_some()
            && self.deeper(Self::list).is_some()
            && self.take(")").is_some()
            && self.at_end()
        {
            return Some(());
        }
        (self.scan, self.tally) = before;
        self.list()
    }

    fn printf(&mut self) -> Option<()> {
        self.word("printf")?;
        let inside = self.take("(").is_some();
        self.format()?;
        while self.take(",").is_some() {
            self.expression()?;
        }
        if inside { self.take(")").filter(|()| self.at_end()) } else { Some(()) }
    }

    /// Takes expressions with commas between them.
    fn list(&mut self) -> Option<()> {
        self.expression()?;
        while self.take(",").is_some() {
            self.expression()?;
        }
        Some(())
    }

    /// Takes `for (KEY in ARRAY) STATEMENT`, the one loop that ends by itself.
    fn for_each(&mut self) -> Option<bool> {
        self.word("for")?;
        self.take("(")?;
        self.array()?;
        self.word("in")?;
        self.array()?;
        self.take(")")?;
        self.tally.can_explode |= self.loops > 0;
        self.loops += 1;
        let has_block = self.statement();
        self.loops -= 1;
        has_block
    }

    fn condition(&mut self) -> Option<bool> {
        self.word("if")?;
        self.take("(")?;
        self.expression()?;
        self.take(")")?;
        let has_block = self.statement()?;
        let before = self.scan;
        if !has_block {
            let _ = self.take(";");
        }
        if self.word("else").is_some() {
            return self.statement();
        }
        self.scan = before;
        Some(has_block)
    }

    /// Takes an expression; `>` compares only outside of braces, where no awk takes it for a redirection.
    fn expression(&mut self) -> Option<()> {
        self.deeper(|program| {
            let before = (program.scan, program.tally);
            if let Some(target) = program.target()
                && program.assigns()
            {
                let (joins, variables) = (program.tally.joins, program.tally.variables);
                program.expression()?;
                let joined = program.tally.joins > joins;
                program.tally.can_explode |= match target {
                    Target::Field => joined && program.loops > 0,
                    Target::Variable => joined && program.tally.variables > variables,
                };
                return Some(());
            }
            (program.scan, program.tally) = before;
            program.choice()
        })
    }

    /// Takes an operator that assigns. `/=` may begin a pattern.
    fn assigns(&mut self) -> bool {
        self.scan.blanks();
        let mut ahead = self.scan;
        let found = ["+=", "-=", "*=", "%=", "^="].iter().any(|sign| ahead.take(sign))
            || (ahead.take("=") && !matches!(ahead.peek(), Some('=' | '~')));
        if found {
            self.scan = ahead;
        }
        found
    }

    /// Takes a field, a variable or an element of an array that may be set.
    fn target(&mut self) -> Option<Target> {
        if self.take("$").is_some() {
            // A field with a large number would fill the memory with empty ones.
            let start = self.scan;
            if self.scan.number() {
                return (start.taken(self.scan).len() <= 3).then_some(Target::Field);
            }
            self.scan = start;
            return (self.scan.name() == "NF").then_some(Target::Field);
        }
        let name = self.next_name();
        let settable = SEPARATORS.contains(&name) || (is_variable(name) && !SPECIAL.contains(&name));
        if !settable {
            return None;
        }
        self.scan.name();
        if self.scan.take("[") {
            self.subscript()?;
        }
        Some(Target::Variable)
    }

    /// Takes `A ? B : C`.
    fn choice(&mut self) -> Option<()> {
        self.joined()?;
        if self.take("?").is_some() {
            self.expression()?;
            self.take(":")?;
            self.expression()?;
        }
        Some(())
    }

    /// Takes comparisons and matches with `&&`, `||` and `in` between them.
    fn joined(&mut self) -> Option<()> {
        loop {
            self.compared()?;
            while self.word("in").is_some() {
                self.array()?;
            }
            if self.take("&&").is_none() && self.take("||").is_none() {
                return Some(());
            }
        }
    }

    fn compared(&mut self) -> Option<()> {
        self.concatenated()?;
        const SIGNS: [&str; 7] = ["!~", "~", "==", "!=", "<=", ">=", "<"];
        let compares = SIGNS.iter().any(|sign| self.take(sign).is_some())
            || (!self.in_braces && self.take(">").is_some());
        if compares { self.concatenated() } else { Some(()) }
    }

    fn concatenated(&mut self) -> Option<()> {
        self.sum()?;
        loop {
            let name = self.next_name();
            let starts = match self.scan.peek() {
                Some('$' | '"' | '(' | '0'..='9') => true,
                _ => is_variable(name) || FUNCTIONS.contains(&name),
            };
            if !starts {
                return Some(());
            }
            self.tally.joins += 1;
            self.sum()?;
        }
    }

    fn sum(&mut self) -> Option<()> {
        self.product()?;
        while self.take("+").is_some() || self.take("-").is_some() {
            // `a++` was taken with its variable, and `a + +b` in one awk is `a++ b` in another.
            if matches!(self.scan.peek(), Some('+' | '-' | '=')) {
                return None;
            }
            self.product()?;
        }
        Some(())
    }

    fn product(&mut self) -> Option<()> {
        self.signed()?;
        loop {
            self.scan.blanks();
            let divides = self.divisible && self.scan.take("/");
            if !divides && !self.scan.take("*") && !self.scan.take("%") {
                return Some(());
            }
            if matches!(self.scan.peek(), Some('=' | '*' | '/')) {
                return None;
            }
            self.signed()?;
        }
    }

    fn signed(&mut self) -> Option<()> {
        self.scan.blanks();
        if self.scan.take("++") || self.scan.take("--") {
            self.divisible = false;
            return self.target().map(drop);
        }
        while self.take("!").is_some() || self.take("-").is_some() || self.take("+").is_some() {
            if matches!(self.scan.peek(), Some('=' | '~' | '+' | '-')) {
                return None;
            }
        }
        self.operand()?;
        if self.take("^").is_some() { self.deeper(Self::signed) } else { Some(()) }
    }

    /// Takes an operand, and `++` or `--` behind one that may be set.
    fn operand(&mut self) -> Option<()> {
        let before = (self.scan, self.tally);
        if self.target().is_some() && (self.scan.take("++") || self.scan.take("--")) {
            self.divisible = false;
            return Some(());
        }
        (self.scan, self.tally) = before;
        self.divisible = true;
        match self.peek()? {
            '$' => self.field(),
            '(' => self.deeper(Self::group),
            '"' => {
                self.divisible = false;
                self.string().map(drop)
            }
            '/' => {
                self.divisible = false;
                self.scan.next();
                (self.scan.peek() != Some('=') && self.scan.pattern('/')).then_some(())
            }
            '0'..='9' => self.number(),
            _ => self.named(),
        }
    }

    /// Takes what `$` counts: a number, a variable, parentheses.
    fn field(&mut self) -> Option<()> {
        self.take("$")?;
        match self.scan.peek()? {
            '0'..='9' => {
                let whole = self.scan.number();
                let runs_on =
                    self.scan.peek().is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '.'));
                (whole && !runs_on).then_some(())
            }
            '(' => self.deeper(Self::group),
            '$' => self.deeper(Self::field),
            _ if FUNCTIONS.contains(&self.next_name()) => None,
            _ => self.named(),
        }
    }

    /// Takes parentheses around an expression, or around the parts of a key: `(a, b) in c`.
    fn group(&mut self) -> Option<()> {
        self.take("(")?;
        self.expression()?;
        let mut parts = 1;
        while self.take(",").is_some() {
            self.expression()?;
            parts += 1;
        }
        self.take(")")?;
        self.divisible = true;
        (parts == 1 || self.next_name() == "in").then_some(())
    }

    fn number(&mut self) -> Option<()> {
        let whole = self.scan.number() && (!self.scan.take(".") || self.scan.number());
        if whole && (self.scan.take("e") || self.scan.take("E")) {
            let _ = self.scan.take("+") || self.scan.take("-");
            self.scan.number().then_some(())?;
        }
        let runs_on =
            self.scan.peek().is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '.'));
        (whole && !runs_on).then_some(())
    }

    /// Takes a string, and returns its inside.
    fn string(&mut self) -> Option<&'t str> {
        self.take("\"")?;
        let start = self.scan;
        loop {
            let inside = self.scan;
            match self.scan.next()? {
                '"' => return Some(start.taken(inside)),
                '\\' => drop(self.scan.next()?),
                _ => {}
            }
        }
    }

    /// Takes a format: one string, whose fields are at most three digits wide.
    fn format(&mut self) -> Option<()> {
        let text = self.string()?;
        let mut rest = text.split('%').skip(1);
        while let Some(field) = rest.next() {
            if field.is_empty() {
                // `%%` prints a percent sign.
                rest.next()?;
                continue;
            }
            let field = field.trim_start_matches(['-', '+', ' ', '#', '0']);
            let (width, field) = split_digits(field);
            let (precision, field) = field.strip_prefix('.').map_or(("", field), split_digits);
            let prints =
                field.starts_with(['c', 'd', 'e', 'E', 'f', 'F', 'g', 'G', 'i', 'o', 's', 'u', 'x', 'X']);
            if width.len() > 3 || precision.len() > 3 || !prints {
                return None;
            }
        }
        Some(())
    }

    /// Takes the keys of an element and the bracket behind them.
    fn subscript(&mut self) -> Option<()> {
        self.deeper(Self::list)?;
        self.take("]")
    }

    /// Takes a call, a variable or an element of an array.
    fn named(&mut self) -> Option<()> {
        self.scan.blanks();
        let name = self.scan.name();
        if FUNCTIONS.contains(&name) {
            if self.peek() != Some('(') {
                // To some awks a pattern begins behind this word.
                self.divisible = false;
                return (name == "length").then_some(());
            }
            self.take("(")?;
            let called = self.deeper(|program| program.call(name));
            self.divisible = true;
            return called;
        }
        if !is_variable(name) {
            return None;
        }
        self.tally.variables += 1;
        if self.scan.take("[") {
            if SPECIAL.contains(&name) {
                return None;
            }
            self.subscript()?;
            self.divisible = true;
        }
        // `name (` is a call to some, and a concatenation to others.
        (self.peek() != Some('(')).then_some(())
    }

    /// Takes what is between the parentheses of a call, and the last of them.
    fn call(&mut self, name: &str) -> Option<()> {
        match name {
            "length" if self.take(")").is_some() => return Some(()),
            "sprintf" => {
                self.tally.joins += 1;
                self.format()?;
            }
            "split" => {
                self.expression()?;
                self.take(",")?;
                self.array()?;
            }
            "gsub" | "sub" => return self.substitution(),
            _ => self.expression()?,
        }
        while self.take(",").is_some() {
            self.expression()?;
        }
        self.take(")")
    }

    /// Takes `PATTERN, TEXT [, TARGET])`.
    fn substitution(&mut self) -> Option<()> {
        self.expression()?;
        self.take(",")?;
        let before = self.scan;
        let removes = self.string() == Some("") && matches!(self.peek(), Some(',' | ')'));
        if !removes {
            self.scan = before;
            self.expression()?;
        }
        let target = if self.take(",").is_some() { self.target()? } else { Target::Field };
        self.tally.can_explode |= !removes && (target == Target::Variable || self.loops > 0);
        self.take(")")
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}
