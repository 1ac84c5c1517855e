//! From a text to a case.
//!
//! Goes in: a case file. Comes out: a case in which every word can be what it stands for, or all that is wrong, with lines. Never:
//! a case that was not checked, the estate.

mod file;
mod observation;
mod whole;
