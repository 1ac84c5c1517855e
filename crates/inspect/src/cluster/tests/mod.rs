//! Flows inside of a cluster, judged from documents.

mod draft;
mod hostile;
mod node;
mod oracle;
mod policy;
mod service;
mod withheld;
