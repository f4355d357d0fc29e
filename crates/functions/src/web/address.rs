//! Which addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 that no public site is in: address, length of the prefix.
const CLOSED_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::UNSPECIFIED, 8),            // This network.
    (Ipv4Addr::new(10, 0, 0, 0), 8),       // Private.
    (Ipv4Addr::new(100, 64, 0, 0), 10),    // Shared by customers of a provider.
    (Ipv4Addr::new(127, 0, 0, 0), 8),      // Loopback.
    (Ipv4Addr::new(168, 63, 129, 16), 32), // Azure's host agent, which answers each virtual machine.
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // Link-local, where clouds answer with credentials.
    (Ipv4Addr::new(172, 16, 0, 0), 12),    // Private.
    (Ipv4Addr::new(192, 0, 0, 0), 24),     // Protocol assignments.
    (Ipv4Addr::new(192, 0, 2, 0), 24),     // Documentation.
    (Ipv4Addr::new(192, 88, 99, 0), 24),   // Relays of 6to4, withdrawn.
    (Ipv4Addr::new(192, 168, 0, 0), 16),   // Private.
    (Ipv4Addr::new(198, 18, 0, 0), 15),    // Benchmarks.
    (Ipv4Addr::new(198, 51, 100, 0), 24),  // Documentation.
    (Ipv4Addr::new(203, 0, 113, 0), 24),   // Documentation.
    (Ipv4Addr::new(224, 0, 0, 0), 4),      // Multicast.
    (Ipv4Addr::new(240, 0, 0, 0), 4),      // Reserved, broadcast included.
];

/// Blocks inside of the global unicast space of IPv6 that no public site is in. Whatever is outside of that space
/// is closed without being listed: loopback, link-local, unique-local, multicast, and IPv4 in its old IPv6 forms.
const CLOSED_V6: [(Ipv6Addr, u32); 4] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // Protocol assignments, Teredo and benchmarks among them.
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // Documentation.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4, which leads to whatever IPv4 address is in it.
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // Documentation.
];

/// All of the global unicast space that was ever assigned.
const GLOBAL_UNICAST: Ipv6Addr = Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0);
/// IPv4 addresses, which the system connects to as IPv4.
const MAPPED: Ipv6Addr = Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0);
/// The well-known prefix of NAT64, which is how a network without IPv4 reaches every IPv4 site.
const NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

/// Whether an address is one that a public site may have.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = u32::from(address);
    !CLOSED_V4.iter().any(|(block, length)| (bits ^ u32::from(*block)) >> (32 - length) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let bits = u128::from(address);
    let is_in = |block: Ipv6Addr, length: u32| (bits ^ u128::from(block)) >> (128 - length) == 0;
    if is_in(MAPPED, 96) || is_in(NAT64, 96) {
        let [.., a, b, c, d] = address.octets();
        return is_public_v4(Ipv4Addr::new(a, b, c, d));
    }
    is_in(GLOBAL_UNICAST, 3) && !CLOSED_V6.iter().any(|(block, length)| is_in(*block, *length))
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn the_public_internet_is_open() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2a00:1450:4001::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn everything_else_is_closed() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            // IPv4 in IPv6: mapped, compatible, translated, NAT64 (both prefixes), 6to4, Teredo.
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::8.8.8.8",
            "2002:7f00:1::",
            "2002:808:808::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:2::1",
            "2001:20::1",
            "2001:db8::1",
            "3fff:fff::1",
            "100::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }
}
