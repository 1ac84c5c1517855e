//! Tests of tasks: facts over scripted answers, and any sequence of answers, crashes and repetitions.

mod facts;
mod replay;
mod trust;
mod world;
