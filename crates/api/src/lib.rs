//! Shapes of the HTTP API, shared by server and browser.
