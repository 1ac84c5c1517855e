//! Which words a guest may say to a program of this machine.
//!
//! Goes in: a program's name, words, standard input. Comes out: nothing, or a sentence why not. Never: a word that leads out of the
//! namespace, names a file of this machine, starts another program, or changes what all namespaces share.
//!
//! A namespace is no prison: whoever runs here is root. So a word has to be known to be harmless where the program could do more
//! than speak with the kernel about its own namespace.

mod filter;
mod table;
mod tool;

pub(in crate::host) use table::check;
