//! The registry, the one call pipeline, and the ports to the outside.
