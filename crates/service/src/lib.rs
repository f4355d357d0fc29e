//! Authentication, the only request builder, use cases, the snapshot writer, events.
