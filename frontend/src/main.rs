//! The browser app: mounts over the skeleton that the server drew, with the data that it sent along.

#![cfg_attr(
    target_arch = "wasm32",
    expect(unreachable_pub, reason = "the component macro makes its types public"),
    expect(
        clippy::needless_pass_by_value,
        reason = "a component owns its properties, whether it needs to or not"
    )
)]

#[cfg(target_arch = "wasm32")]
mod api;
#[cfg(target_arch = "wasm32")]
mod app;
#[cfg(target_arch = "wasm32")]
mod components;
#[cfg(target_arch = "wasm32")]
mod pages;
#[cfg(target_arch = "wasm32")]
mod state;

fn main() {
    // Elsewhere there is nothing to mount on; the package then only serves the tests of its library.
    #[cfg(target_arch = "wasm32")]
    app::start();
}
