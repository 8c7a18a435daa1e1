//! Tokens that prove that a server receives packets at its address, made and checked without any
//! state.

use std::net::SocketAddr;

use phaselock::time::LocalTime;
use phaselock::wire::directory::Token;
use ring::hmac;
use subtle::ConstantTimeEq as _;

/// Seconds for which a token is valid: a server answers at once, and retries for some seconds.
const GOOD_SECS: u64 = 30;

/// Makes and checks tokens: the time in seconds, and 16 bytes of a MAC over the time, address and
/// port.
#[derive(Debug)]
pub(super) struct TokenMint(hmac::Key);

impl TokenMint {
    pub(super) fn new(secret: &[u8; 32]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Returns the token for an address that announces that port.
    pub(super) fn token(&self, now: LocalTime, from: SocketAddr, port: u16) -> Token {
        self.token_of(secs(now), from, port)
    }

    /// Whether a token was recently made for this address and port.
    pub(super) fn is_valid(
        &self,
        now: LocalTime,
        from: SocketAddr,
        port: u16,
        token: &Token,
    ) -> bool {
        let made = token.first_chunk().copied().map_or(u64::MAX, u64::from_le_bytes);
        let age = secs(now).checked_sub(made);
        let own = self.token_of(made, from, port);
        bool::from(own.ct_eq(token)) && age.is_some_and(|age| age <= GOOD_SECS)
    }

    fn token_of(&self, made: u64, from: SocketAddr, port: u16) -> Token {
        let made = made.to_le_bytes();
        let mut context = hmac::Context::with_key(&self.0);
        context.update(&made);
        context.update(from.to_string().as_bytes());
        context.update(&port.to_le_bytes());
        let mut token = Token::default();
        let code = context.sign();
        let bytes = made.iter().chain(code.as_ref());
        token.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        token
    }
}

/// Numbers that no one can predict who sees others of them: parties' codes and nonces. They depend
/// only on the secret, the seed and their order.
#[derive(Debug)]
pub(super) struct Secrets {
    key: hmac::Key,
    count: u64,
}

impl Secrets {
    /// Creates a source for one purpose.
    pub(super) fn new(secret: &[u8; 32], seed: u64, purpose: &str) -> Self {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret));
        context.update(b"phaselock directory secrets");
        context.update(&seed.to_le_bytes());
        context.update(purpose.as_bytes());
        let key = hmac::Key::new(hmac::HMAC_SHA256, context.sign().as_ref());
        Self { key, count: 0 }
    }

    /// Returns the next 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.count += 1;
        let code = hmac::sign(&self.key, &self.count.to_le_bytes());
        code.as_ref().first_chunk().copied().map_or(0, u64::from_le_bytes)
    }
}

fn secs(now: LocalTime) -> u64 {
    u64::try_from(now.0).unwrap_or_default() / 1_000_000
}
