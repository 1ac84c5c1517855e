//! What conversations are like.
