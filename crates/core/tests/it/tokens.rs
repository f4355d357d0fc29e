//! The token estimate against a real tokenizer, whose vocabulary is too large to hold in the server.

use serde::Deserialize;
use serde_json::{Value, json};
use toolshelf_core::estimate_tokens;

#[derive(Deserialize)]
struct Sample {
    tools: Vec<Declared>,
}

#[derive(Deserialize)]
struct Declared {
    name: String,
    description: String,
    parameters: Value,
}

/// Real tools of many servers, and some in Chinese: the sum is close, and hardly any tool is far off.
#[test]
fn the_estimate_is_close_to_a_real_tokenizer() {
    let sample: Sample = serde_json::from_str(include_str!("../data/tools.json")).unwrap();
    let tokenizer = tiktoken_rs::o200k_base().unwrap();
    let (mut estimated, mut counted, mut far_off) = (0.0, 0.0, 0);
    for tool in &sample.tools {
        let wire = json!({"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters
        }});
        let real = f64::from(u32::try_from(tokenizer.encode_ordinary(&wire.to_string()).len()).unwrap());
        let guess = f64::from(estimate_tokens(&tool.name, &tool.description, &tool.parameters));
        (estimated, counted) = (estimated + guess, counted + real);
        far_off += usize::from((guess / real - 1.0).abs() > 0.25);
    }
    let ratio = estimated / counted;
    assert!((0.95..1.05).contains(&ratio), "the sum is {ratio:.3} of what it should be");
    assert!(
        far_off * 20 <= sample.tools.len(),
        "{far_off} of {} are off by more than a quarter",
        sample.tools.len()
    );
}
