//! Facts about machines of the model, alone and beside the real tools.

mod agree;
mod fact;
