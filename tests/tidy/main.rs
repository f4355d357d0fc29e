//! Dependencies point one way.
