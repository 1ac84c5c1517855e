//! Messages of the name service.

use std::net::IpAddr;

/// Seconds that an answer is good for.
const TTL_SECONDS: u32 = 60;

/// Writes a question and, where a code is given, its answer.
pub(in crate::host::simulated::wire) fn question(
    id: u16,
    name: &str,
    kind: u16,
    code: Option<&str>,
    found: &[IpAddr],
) -> (Vec<u8>, Option<Vec<u8>>) {
    let asked = asked(name, kind);
    let mut request = header(id, 0x0100, 0);
    request.extend(&asked);
    let answer = code.map(|code| {
        let number = match code {
            "NXDOMAIN" => 3,
            "SERVFAIL" => 2,
            _ => 0,
        };
        let fitting: Vec<&IpAddr> = found.iter().filter(|found| found.is_ipv4() == (kind == 1)).collect();
        let fitting = if number == 0 { fitting } else { Vec::new() };
        let mut answer = header(id, 0x8180 | number, u16::try_from(fitting.len()).unwrap_or(0));
        answer.extend(&asked);
        for address in fitting {
            let bytes = match address {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            };
            // The name is the one at byte 12.
            answer.extend([0xc0, 12]);
            answer.extend(kind.to_be_bytes());
            answer.extend([0, 1]);
            answer.extend(TTL_SECONDS.to_be_bytes());
            answer.extend(u16::try_from(bytes.len()).unwrap_or(0).to_be_bytes());
            answer.extend(bytes);
        }
        answer
    });
    (request, answer)
}

fn header(id: u16, flags: u16, answers: u16) -> Vec<u8> {
    [id, flags, 1, answers, 0, 0].iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn asked(name: &str, kind: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.').filter(|label| !label.is_empty()).take(20) {
        let label: Vec<u8> = label.bytes().take(63).collect();
        // A name is never longer than 255 bytes.
        if bytes.len() + label.len() > 252 {
            break;
        }
        bytes.push(u8::try_from(label.len()).unwrap_or(0));
        bytes.extend(label);
    }
    bytes.push(0);
    bytes.extend(kind.to_be_bytes());
    bytes.extend([0, 1]);
    bytes
}
