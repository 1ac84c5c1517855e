//! Bundles, frameworks, snapshots, whole comparisons.
