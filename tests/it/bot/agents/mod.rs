//! The real Claude Code and the real Codex, with a model of the tests' own, a local Slack, and people who press buttons.
//!
//! `tests/sdk/install` installs them; `GHOST_TEST_WITHOUT=claude,codex` runs without them.

mod around;
mod consent;
mod model;
mod site;
