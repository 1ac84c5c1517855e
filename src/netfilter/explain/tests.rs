//! What is said about rules, and that it holds.
