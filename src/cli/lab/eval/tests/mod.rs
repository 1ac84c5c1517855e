//! Facts about investigations by models that fail, lie, or do what any text tells them: on a lab in this process, so that what they read
//! really stands in its cloud and on its machines.

mod again;
mod around;
mod delivered;
mod false_claim;
mod lying;
mod mixed;
mod obeying;
mod stage;
mod taken_over;
mod unlooked;
