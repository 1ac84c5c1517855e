//! What every subcommand accepts.

use std::path::PathBuf;

use clap::Args;

/// Where help lists what every subcommand accepts.
pub const EVERYWHERE: &str = "Everywhere";

/// The options of every subcommand.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// The configuration file.
    #[arg(long, global = true, value_name = "FILE", help_heading = EVERYWHERE)]
    pub config: Option<PathBuf>,
    /// The folder for everything that a run writes; else `$GHOST_DATA_DIR`, `$XDG_STATE_HOME/ghost`, `~/.local/state/ghost`.
    #[arg(long, global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    pub data_dir: Option<PathBuf>,
    /// An address, prefix or name where commands may send something without asking, beside `[shell] destinations`; repeatable.
    #[arg(long = "destination", global = true, value_name = "PLACE", help_heading = EVERYWHERE)]
    pub destinations: Vec<String>,
}
