//! How often somebody may try to sign in or to set up.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::error::ServiceError;

/// Limits for each address, and for each account at an address.
///
/// No limit is on an account alone: that would let anyone lock its owner out.
pub(crate) struct Limits {
    addresses: DefaultKeyedRateLimiter<IpAddr>,
    accounts: DefaultKeyedRateLimiter<(String, IpAddr)>,
}

/// An IPv6 address stands for its network of 64 bits, of which whoever has one address has all.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => IpAddr::V4(mapped),
            None => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        },
    }
}

/// Tries of one address: this many at once, then one each second.
const ADDRESS_BURST: u32 = 60;
/// Tries on one account from one address: this many at once, then one every six seconds.
const ACCOUNT_BURST: u32 = 10;

impl Limits {
    pub(crate) fn new() -> Self {
        let quota = |period: u64, burst: u32| {
            let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
            Quota::with_period(Duration::from_secs(period))
                .unwrap_or(Quota::per_second(burst))
                .allow_burst(burst)
        };
        Self {
            addresses: RateLimiter::keyed(quota(1, ADDRESS_BURST)),
            accounts: RateLimiter::keyed(quota(6, ACCOUNT_BURST)),
        }
    }

    /// Counts a try; an error when it is one too many.
    pub(crate) fn count(&self, account: &str, address: IpAddr) -> Result<(), ServiceError> {
        let address = network(address);
        let wait = |not_until: governor::NotUntil<_>| {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            ServiceError::RateLimited { retry_after_seconds: wait.as_secs() + 1 }
        };
        self.addresses.check_key(&address).map_err(wait)?;
        // A name of any length must not fill the memory.
        let account: String = account.chars().take(64).flat_map(char::to_lowercase).collect();
        self.accounts.check_key(&(account, address)).map_err(wait)
    }

    /// Forgets who has not tried for a while.
    pub(crate) fn forget_idle(&self) {
        self.addresses.retain_recent();
        self.accounts.retain_recent();
        self.addresses.shrink_to_fit();
        self.accounts.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::network;

    #[test]
    fn addresses_of_one_ipv6_network_count_as_one() {
        for (address, counted) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
        ] {
            assert_eq!(network(address.parse().unwrap()).to_string(), counted, "{address}");
        }
    }
}
