//! What the browser app does without a browser: filtering, windowing, schemas and forms.
//!
//! It compiles natively, so that its tests run in a second and need no wasm.

pub mod model;
