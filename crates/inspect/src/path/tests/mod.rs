//! Facts about judging one flow.

mod documents;
pub(crate) mod draft;
mod facts;
mod object;
mod property;
mod remedy;
mod route;
