//! Facts about masking, and its properties.

use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::Mask;

fn mask() -> Mask {
    Mask::new([7; 32])
}

/// Checks that a text is masked, keeps what surrounds its addresses, and comes back.
#[track_caller]
fn check(text: &str, changes: bool) {
    let masked = mask().mask(text);
    assert_eq!(masked != text, changes, "{text} became {masked}");
    assert_eq!(mask().unmask(&masked), text);
}

#[test]
fn addresses_are_masked_wherever_they_stand() {
    for text in [
        "10.1.2.3",
        "host 10.1.2.3.",
        "10.1.2.3:22",
        "[fd00:1::4]:443",
        "10.1.2.0/24",
        "src=10.1.2.3 dst=192.168.1.9",
        "\"172.16.5.4\",",
        "(10.1.2.3)",
        "from:10.1.2.3:99",
        "10.1.2.3-10.1.2.9",
        "fd12:3456::1%eth0",
        "10.1.2.3/24",
        "src:10.1.2.3",
        "::ffff:10.1.2.3",
        "fd00::1:",
        "dev:fd00::1",
    ] {
        check(text, true);
    }
}

#[test]
fn what_means_the_same_everywhere_stays() {
    for text in [
        "127.0.0.1",
        "169.254.169.254",
        "0.0.0.0/0",
        "255.255.255.0",
        "168.63.129.16",
        "8.8.8.8",
        "fe80::1%eth0",
        "224.0.0.251",
        "::1",
        "::",
        "2001:db8::1",
    ] {
        check(text, false);
    }
}

#[test]
fn what_only_resembles_an_address_stays() {
    for text in [
        "version 10.1.2.3.4",
        "v10.1.2.3",
        "10.1.2.3a",
        "10.1.2",
        "12:34:56",
        "10.01.2.3",
        "00:11:22:33:44:55",
        "10.1.2.300",
        "x_10.1.2.3",
    ] {
        check(text, false);
    }
}

#[test]
fn a_network_keeps_its_empty_host_bits() {
    let masked = mask().mask("10.1.2.0/24 10.1.0.0/16 10.0.0.0/8 fd00:1:2::/48");
    let parts: Vec<&str> = masked.split(' ').collect();
    assert!(parts[0].ends_with(".0/24"));
    assert!(parts[1].ends_with(".0.0/16"));
    assert_eq!(parts[2], "10.0.0.0/8");
    assert!(parts[3].ends_with("::/48"));
}

#[test]
fn a_host_lies_in_its_masked_network() {
    let masked = mask().mask("10.1.2.0/24 10.1.2.77");
    let (network, host) = masked.split_once(".0/24 ").unwrap();
    assert!(host.starts_with(network));
}

#[test]
fn another_key_gives_another_mask_and_neither_is_printed() {
    assert_ne!(mask().mask("10.1.2.3"), Mask::new([8; 32]).mask("10.1.2.3"));
    assert_eq!(format!("{:?}", mask()), "Mask([secret])");
}

fn masked_v4(address: u32) -> u32 {
    mask().mask(&Ipv4Addr::from(address).to_string()).parse::<Ipv4Addr>().unwrap().into()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Restoring gives the same bytes, whatever the text.
    #[test]
    fn every_text_comes_back(text in "(([0-9a-f.:/%\\[\\] é-]|10\\.|192\\.168\\.|fd00:|::|\\.){0,12}|\\PC{0,20}){0,4}") {
        prop_assert_eq!(mask().unmask(&mask().mask(&text)), text);
    }

    /// So does every address in every block, with every prefix.
    #[test]
    fn every_address_comes_back(host: u32, length in 0..=32_u8, wide: u128, wide_length in 0..=128_u8) {
        let v6 = Ipv6Addr::from((wide >> 8) | (0xfd << 120));
        let network = Ipv6Addr::from(u128::from(v6) & u128::MAX.checked_shl(128 - u32::from(wide_length)).unwrap_or(0));
        for v4 in [0x0a00_0000 | (host >> 8), 0xc0a8_0000 | (host >> 16), 0xac10_0000 | (host >> 12)] {
            let zeroed = Ipv4Addr::from(v4 & u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0));
            let text = format!("{}/{length} {zeroed}/{length} [{v6}]:1 {network}/{wide_length} {v6}%e0", Ipv4Addr::from(v4));
            prop_assert_eq!(mask().unmask(&mask().mask(&text)), text);
        }
    }

    /// Two addresses share as many leading bits masked as they do in truth.
    #[test]
    fn shared_prefixes_stay_shared(a: u32, b: u32, shared in 8..32_u32) {
        let a = 0x0a00_0000 | (a >> 8);
        let low = u32::MAX >> shared;
        let b = (a & !low) | (b & low);
        prop_assert_eq!((masked_v4(a) ^ masked_v4(b)).leading_zeros(), (a ^ b).leading_zeros());
    }

    /// Every mask lies in the block of its address.
    #[test]
    fn masks_stay_in_their_block(host: u32) {
        let v4 = masked_v4(0xac10_0000 | (host >> 12));
        prop_assert_eq!(v4 >> 20, 0xac1);
        let real = Ipv6Addr::from((0xfd << 120) | (u128::from(host) << 40) | u128::from(host));
        let v6: Ipv6Addr = mask().mask(&real.to_string()).parse().unwrap();
        prop_assert_eq!(v6.octets()[0], 0xfd);
    }
}
