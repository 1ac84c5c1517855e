//! The cloud as `az` tells of it.

mod failed;
mod judged;
mod role;
