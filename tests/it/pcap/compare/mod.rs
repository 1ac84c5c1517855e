//! Two captures: of two ends, of two times, and of anything at all.

mod ends;
mod hostile;
mod path;
mod times;
