//! From a case and an estate to steps.
//!
//! Goes in: a case, the documents of an estate. Comes out: steps in their order, each with what takes it back, and the stage; or all
//! that does not fit. Never: a request, a script that runs, a step for a name that is not there.

mod cloud;
mod estate;
mod guest;
mod make;
mod stage;
mod step;
mod view;

pub(super) use make::lift;
pub use make::{Plan, plan};
pub(super) use stage::stage;
pub use step::{PlanAction, PlanStep};
pub use view::View;
