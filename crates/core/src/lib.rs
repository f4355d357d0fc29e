//! Decides which tools a request may see, and why: a pure function.
