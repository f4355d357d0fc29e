//! List, resolve and call are one set, for profiles and pins that are drawn.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolshelf_tests::{Client, TestApp};

use super::{ALL, edit, make, offered, path, pinned_key};

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        // Knuth's MMIX generator; its high bits are good enough to choose tests.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % sides
    }

    fn tools(&mut self) -> Vec<&'static str> {
        let mut tools: Vec<&str> = Vec::new();
        for _ in 0..self.roll(ALL.len() + 1) {
            tools.push(ALL[self.roll(ALL.len())]);
        }
        tools
    }
}

/// The tools that a call gets through to; the arguments are refused after that.
async fn callable(client: &Client) -> Vec<String> {
    let mut names = Vec::new();
    for tool in ALL {
        let answer = client.call(tool, json!({"no_such_argument": 1})).await;
        match answer.status() {
            422 => names.push(tool.to_owned()),
            403 => {}
            status => panic!("{tool} was answered {status}: {}", answer.text()),
        }
    }
    names
}

async fn in_list(client: &Client, toolset: &str) -> BTreeSet<String> {
    let place = path(toolset).replace("/api/v1/profiles/", "/api/v1/tools?toolset=");
    let page = client.get(&place).await.expect(200).json();
    let items = page["items"].as_array().expect("a list");
    items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn list_resolve_and_call_are_one() {
    let (_app, admin) = TestApp::with_admin().await;
    let mut dice = Dice(20_261_201);
    make(&admin, "pin", &[]).await;
    make(&admin, "pick", &[]).await;
    let key = pinned_key(&admin, "pin").await;
    // They run without a conversation, so what needs one is never offered.
    let runnable = |name: &&str| !name.starts_with("todo_");
    for round in 0..12 {
        let (pin, pick) = (dice.tools(), dice.tools());
        if round % 2 == 0 {
            admin.patch(&path("pin"), json!({"tools": pin})).await.expect(200);
        } else {
            let others: Vec<&str> = ALL.into_iter().filter(|name| !pin.contains(name)).collect();
            edit(&admin, "pin", &pin, &others).await.expect(200);
        }
        admin.patch(&path("pick"), json!({"tools": pick})).await.expect(200);
        let veto = ALL[dice.roll(ALL.len())];
        admin.disable(veto, "drawn").await.expect(200);

        let own = |name: &&str| runnable(name) && *name != veto;
        let expected: Vec<&str> = ALL.into_iter().filter(|name| pin.contains(name)).filter(own).collect();
        let what = format!("round {round}: pin {pin:?}, pick {pick:?}, veto {veto}");
        assert_eq!(offered(&key, Value::Null).await, expected, "{what}");
        assert_eq!(callable(&key).await, expected, "{what}");
        let both: Vec<&str> =
            ALL.into_iter().filter(|name| pin.contains(name) && pick.contains(name)).filter(own).collect();
        assert_eq!(offered(&key, json!("pick")).await, both, "{what}");
        assert_eq!(offered(&key, json!(pick)).await, both, "{what}");
        // The list shows what the toolset selects, with the veto beside it.
        let selected = |by: &[&str]| by.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(in_list(&admin, "pick").await, selected(&pick), "{what}");
        assert_eq!(in_list(&key, "default").await, selected(&pin), "{what}");
        admin.enable(veto).await.expect(200);
    }
}
