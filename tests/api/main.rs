//! Everything that can be shown over HTTP.
