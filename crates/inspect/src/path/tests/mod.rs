//! Facts about judging one flow.

mod documents;
mod draft;
mod facts;
mod object;
mod property;
mod route;
