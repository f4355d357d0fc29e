//! Serves a catalog of many tools, for looking at and for figures: `cargo run --example many -p toolshelf-tests -- 5000 DATA`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool of development, which says what it does and ends when it cannot"
)]

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toolshelf_runtime::{Environment, FunctionSpec, RegistryBuilder, ToolReturn};
use toolshelf_server::Config;

/// Arguments of the usual kind.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// What to look for, in words or as an identifier of the service.
    #[expect(dead_code, reason = "the tools do nothing")]
    query: String,
    /// At most this many.
    #[expect(dead_code, reason = "the tools do nothing")]
    limit: Option<u32>,
}

/// How many tools a service has.
const EACH: usize = 12;

fn register(builder: RegistryBuilder, count: usize) -> RegistryBuilder {
    const VERBS: [&str; 6] = ["get", "list", "create", "update", "delete", "search"];
    const THINGS: [&str; 6] =
        ["issue", "pull_request", "客户", "calendar_event", "invoice", "repository_with_a_rather_long_name"];
    (0..count).fold(builder, |builder, number| {
        let service = number / EACH;
        let ascii = |text: &str| if text.is_ascii() { text.to_owned() } else { "customer".to_owned() };
        let (verb, thing) = (VERBS[number % 6], THINGS[(number / 6) % 6]);
        let text = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let name = text(format!("s{service}_{verb}_{}_{number}", ascii(thing)));
        let about = text(format!(
            "Does {verb} with a {thing} of service {service}, and returns what came of it as text."
        ));
        let spec = FunctionSpec::new(name, text(format!("service-{service}")), about);
        builder.function(spec, |_, _: Arguments| async { Ok(ToolReturn::from("done")) })
    })
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().unwrap().parse::<usize>().unwrap();
    let data = PathBuf::from(arguments.next().unwrap());
    let config = Config::new("127.0.0.1:0".parse().unwrap(), data);
    let environment = Environment::system();
    // The built-in ones count too.
    let more = count.saturating_sub(11);
    let server =
        toolshelf_server::start_with(config, environment, |registry| register(registry, more)).await.unwrap();
    println!("Toolshelf is listening on http://{}", server.address);
    println!("Set up: {}", server.setup_link().unwrap_or_default());
    server.run().await.unwrap();
}
