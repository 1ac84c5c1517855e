//! What a verdict, a policy and the entry into a base chain do with a packet.

use super::engine::{Engine, Work};
use super::packet::{Hook, Verdict};
use super::run::{Frame, Run};
use crate::netfilter::logic::{Code, Field, Spans, Test};

/// The deepest nesting of chains; the kernel allows sixteen.
const MAX_DEPTH: usize = 64;

/// The priority at which connections are looked up.
const TRACKING: i64 = -200;

impl Engine<'_> {
    /// Begins with the next base chain.
    pub(super) fn enter(&self, run: &mut Run, chain: usize, open: &mut Vec<Run>) {
        let base = self.program.chains.get(chain).and_then(|chain| chain.base.as_ref());
        let priority = base.map_or(0, |base| base.priority);
        let first = matches!(self.hook, Hook::Prerouting | Hook::Output);
        let from_here = run.path.entry(Field::In).and_then(Spans::single) == Some(self.loopback);
        run.path.show_state(first && priority <= TRACKING && !(from_here && self.hook == Hook::Prerouting));
        run.frames = vec![Frame::of(chain)];
        if let Some(base) = base.filter(|base| base.only != Test::Always) {
            Self::enter_if(run, chain, &base.only, open);
        }
        if !base.is_some_and(|base| base.nat) {
            return;
        }
        // Translation is decided once a connection; an ICMP error goes the path of the connection that it is about.
        let error = Test::Is(Field::Protocol, Spans::of([(1, 1), (58, 58)]));
        let announced = Test::one(Field::State, 2).and(error.not());
        let begins = Test::Any(vec![Test::one(Field::State, 0), announced]);
        Self::enter_if(run, chain, &begins, open);
    }

    /// Enters a chain if a test holds, and leaves it if not; where that is not known both are followed.
    fn enter_if(run: &mut Run, chain: usize, test: &Test, open: &mut Vec<Run>) {
        match run.path.holds(test) {
            Some(true) => {}
            Some(false) => run.leave(),
            None => {
                let mut branches = run.path.clone().split(test).into_iter();
                let first = branches.next();
                for (path, holds) in branches {
                    let mut other = Run { path, frames: vec![Frame::of(chain)], ..run.clone() };
                    if !holds {
                        other.leave();
                    }
                    open.push(other);
                }
                if let Some((path, holds)) = first {
                    run.path = path;
                    if !holds {
                        run.leave();
                    }
                }
            }
        }
    }

    /// Applies the policy of the base chain; true where the path ends.
    pub(super) fn policy(&self, run: &mut Run, work: &mut Work<'_>) -> bool {
        let chain = work.chains.get(run.base).copied();
        let base = chain.and_then(|chain| self.program.chains.get(chain)?.base.as_ref());
        match base.map_or(&Code::Accept, |base| &base.policy) {
            Code::Drop => {
                work.ends.push(run.clone().end(Verdict::Drop, None, work.chains));
                true
            }
            Code::Unknown(atom) => Self::unknown(*atom, None, run, work),
            Code::Unread(_)
            | Code::Accept
            | Code::Reject
            | Code::Return
            | Code::Continue
            | Code::Change(_)
            | Code::Jump(_)
            | Code::Goto(_) => {
                run.leave();
                false
            }
        }
    }

    /// Carries out a verdict; true where the path ends.
    pub(super) fn carry_out(
        &self,
        code: &Code,
        at: (usize, usize),
        run: &mut Run,
        work: &mut Work<'_>,
    ) -> bool {
        match code {
            Code::Accept => {
                run.accepted = Some(at);
                run.leave();
                false
            }
            Code::Drop | Code::Reject => {
                let verdict = if *code == Code::Drop { Verdict::Drop } else { Verdict::Reject };
                work.ends.push(run.clone().end(verdict, Some(at), work.chains));
                true
            }
            Code::Change(change) => {
                self.change(run, change);
                false
            }
            Code::Continue => {
                run.next_rule();
                false
            }
            Code::Return => {
                run.frames.pop();
                run.frames.is_empty() && self.policy(run, work)
            }
            Code::Jump(target) => {
                run.next_rule();
                if run.frames.len() >= MAX_DEPTH {
                    work.ends.push(run.clone().end(Verdict::Indeterminate, Some(at), work.chains));
                    return true;
                }
                Self::jump(run, *target);
                false
            }
            Code::Goto(target) => {
                run.frames.pop();
                Self::jump(run, *target);
                false
            }
            Code::Unknown(atom) => Self::unknown(*atom, Some(at), run, work),
            Code::Unread(atom) => Self::unread(*atom, Some(at), run, work),
        }
    }

    /// What stands here may do anything, or nothing: one path ends as open, the other goes on.
    pub(super) fn unread(atom: u32, at: Option<(usize, usize)>, run: &mut Run, work: &mut Work<'_>) -> bool {
        let mut goes_on = None;
        for (path, decides) in run.path.clone().split(&Test::Atom(atom)) {
            if decides {
                let other = Run { path, ..run.clone() };
                work.ends.push(other.end(Verdict::Indeterminate, at, work.chains));
            } else {
                goes_on = Some(path);
            }
        }
        match goes_on {
            Some(path) => {
                run.path = path;
                false
            }
            None => true,
        }
    }

    /// Another program decides: both outcomes are followed.
    fn unknown(atom: u32, at: Option<(usize, usize)>, run: &mut Run, work: &mut Work<'_>) -> bool {
        for (path, passes) in run.path.clone().split(&Test::Atom(atom)) {
            let mut other = Run { path, ..run.clone() };
            if passes {
                other.accepted = at.or(other.accepted);
                other.leave();
                work.open.push(other);
            } else {
                work.ends.push(other.end(Verdict::Drop, at, work.chains));
            }
        }
        true
    }
}
