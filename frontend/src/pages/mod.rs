//! One page for each kind of address.

mod functions;
mod unknown;

pub(crate) use functions::FunctionsPage;
pub(crate) use unknown::UnknownPage;
