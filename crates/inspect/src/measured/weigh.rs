//! The table of both: what was computed, what was measured, what holds.

/// What documents say of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Computed {
    /// It passes, in both directions.
    Passes,
    /// It passes late, doubled, out of order, or in smaller packets: a connection is made all the same.
    Slowed,
    /// A share of it is lost: one try may fail, another one not.
    Lossy,
    /// Something stops it.
    Stopped,
    /// They do not decide it.
    NotKnown,
}

/// What came of trying a flow: from its caller, to its destination and port, by its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// The destination answered.
    Reached,
    /// It did not, or refused.
    NotReached,
}

/// Which of both holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighed {
    /// The flow was not tried: what was computed holds.
    Computed,
    /// What was measured fits what was computed.
    Agreed,
    /// The documents do not decide the flow, and the measurement does: it passes.
    Reached,
    /// It was not reached, and nothing that was read explains that. Where the documents let it pass they are wrong, or not whole.
    FailsUnexplained,
    /// It was reached, although the documents stop it: what they name does not stop this flow.
    PassesAnyway,
}

impl Weighed {
    /// True if the measurement says the opposite of the documents: the answer is less certain than either alone.
    #[must_use]
    pub const fn is_contradiction(self, computed: Computed) -> bool {
        match self {
            Self::PassesAnyway => true,
            Self::FailsUnexplained => !matches!(computed, Computed::NotKnown),
            Self::Computed | Self::Agreed | Self::Reached => false,
        }
    }
}

/// Weighs what was measured against what was computed.
#[must_use]
pub const fn weigh(computed: Computed, measured: Option<Measured>) -> Weighed {
    match (computed, measured) {
        (_, None) => Weighed::Computed,
        (Computed::Passes | Computed::Slowed | Computed::Lossy, Some(Measured::Reached))
        | (Computed::Lossy | Computed::Stopped, Some(Measured::NotReached)) => Weighed::Agreed,
        (Computed::NotKnown, Some(Measured::Reached)) => Weighed::Reached,
        (Computed::Stopped, Some(Measured::Reached)) => Weighed::PassesAnyway,
        (Computed::Passes | Computed::Slowed | Computed::NotKnown, Some(Measured::NotReached)) => {
            Weighed::FailsUnexplained
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Computed; 5] =
        [Computed::Passes, Computed::Slowed, Computed::Lossy, Computed::Stopped, Computed::NotKnown];

    #[test]
    fn without_a_measurement_the_documents_hold() {
        assert!(ALL.iter().all(|computed| weigh(*computed, None) == Weighed::Computed));
    }

    #[test]
    fn a_flow_that_was_reached_is_stopped_by_nothing() {
        let reached = ALL.map(|computed| weigh(computed, Some(Measured::Reached)));
        assert_eq!(
            reached,
            [Weighed::Agreed, Weighed::Agreed, Weighed::Agreed, Weighed::PassesAnyway, Weighed::Reached]
        );
    }

    #[test]
    fn a_flow_that_was_not_reached_passes_by_no_document() {
        let failed = ALL.map(|computed| weigh(computed, Some(Measured::NotReached)));
        let open = Weighed::FailsUnexplained;
        assert_eq!(failed, [open, open, Weighed::Agreed, Weighed::Agreed, open]);
        assert!(open.is_contradiction(Computed::Passes) && !open.is_contradiction(Computed::NotKnown));
    }
}
