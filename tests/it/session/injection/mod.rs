//! A model that obeys every instruction it reads sends nothing to anybody whom no person named.
//!
//! `proof` holds that with instructions of our own. `GHOST_TEST_INJECTIONS=FOLDER` adds public collections, one for each entry of that
//! folder; `corpus` reads them and `obey` says what such a model does about each. A sample of them is taken, `GHOST_LONG=1` takes them all,
//! and `GHOST_TEST_SEED` repeats or changes the sample.

mod corpus;
mod obey;
mod proof;
mod public;
