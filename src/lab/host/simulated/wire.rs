//! What happens to packets between two machines.
