//! `ghost lab net`: small networks of real machines of this kernel, and faults in them.
//!
//! Goes in: the name of a network, of a fault. Comes out: namespaces to look into, what was put into them and what was found. Never: a
//! listener that another machine reaches, a namespace that stays when it is taken down.

mod command;
mod eval;
mod served;

pub(super) use command::{Arguments, run};
pub(super) use eval::{Ending, Question, evaluate};
