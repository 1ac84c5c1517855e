//! The built-in `az`: against recordings of the real one, against odd lines, against odd answers.

mod compare;
mod line;
mod odd;
mod replay;
mod stage;
