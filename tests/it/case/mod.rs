//! Cases: what the files say, what is planned, what is injected, and that all of it goes again.

mod file;
mod ground;
mod hostile;
mod inject;
mod plan;
