//! Cases: what the files say, what is planned, what is injected, and that all of it goes again.

mod door;
mod file;
mod ground;
mod hostile;
mod inject;
mod plan;
mod seen;
