//! The configurations that `deploy/` ships are ones that the program takes.

use ghost_tools::config::Config;

use super::root;

#[test]
fn every_configuration_can_be_used() {
    for name in ["deploy/ghost.toml", "deploy/kubernetes/ghost.toml"] {
        Config::load(&root().join(name)).unwrap_or_else(|error| panic!("{error}"));
    }
}
