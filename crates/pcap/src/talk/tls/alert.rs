//! Alerts: what went wrong, in the words of the one who saw it.

/// What an alert says, and who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alert {
    /// The connection ends by it.
    pub(crate) fatal: bool,
    /// The server sent it.
    pub(crate) server: bool,
    /// The number of the description.
    pub(crate) what: u8,
}

impl Alert {
    /// Says whether something went wrong: an end in good order is no trouble.
    pub(crate) fn trouble(self) -> bool {
        self.fatal && !matches!(self.what, 0 | 90 | 100)
    }
}

/// Returns the name of a description.
pub(crate) fn alert_name(what: u8) -> &'static str {
    match what {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        21 => "decryption_failed",
        22 => "record_overflow",
        30 => "decompression_failure",
        40 => "handshake_failure",
        41 => "no_certificate",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        49 => "access_denied",
        50 => "decode_error",
        51 => "decrypt_error",
        60 => "export_restriction",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        100 => "no_renegotiation",
        109 => "missing_extension",
        110 => "unsupported_extension",
        111 => "certificate_unobtainable",
        112 => "unrecognized_name",
        113 => "bad_certificate_status_response",
        114 => "bad_certificate_hash_value",
        115 => "unknown_psk_identity",
        116 => "certificate_required",
        120 => "no_application_protocol",
        _ => "unknown",
    }
}
