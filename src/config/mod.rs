//! The one configuration file, and the only reader of the environment.
