//! How long the resolver takes, by the size of the registry.

#[path = "../tests/it/support.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod support;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::json;
use support::{definition, disable, request, tool};
use toolshelf_core::{
    Compiled, McpDefinition, McpMarks, Scope, Search, ServerTools, Snapshot, Toolset, UpstreamCall,
    authorize_call, evaluate, resolve, search,
};

fn snapshot(tools: usize) -> Snapshot {
    let tools = (0..tools).map(|position| tool(definition("files", &format!("tool_{position}")))).collect();
    Snapshot::new(tools, vec![]).expect("the names differ").with_disable("tool_3", 1, Some(disable()))
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resolve");
    for size in [7, 73, 1_000, 10_000] {
        let snapshot = snapshot(size);
        let all = request(Scope::default());
        group.bench_with_input(BenchmarkId::new("default", size), &size, |bencher, _| {
            bencher.iter(|| resolve(black_box(&snapshot), black_box(&all)));
        });
        let names = (0..size.min(200)).map(|position| format!("tool_{position}")).collect();
        let few = request(Scope { toolset: Some(Toolset::List(names)), ..Scope::default() });
        group.bench_with_input(BenchmarkId::new("list of 200", size), &size, |bencher, _| {
            bencher.iter(|| resolve(black_box(&snapshot), black_box(&few)));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("one tool");
    for size in [73, 10_000] {
        let snapshot = snapshot(size);
        let all = request(Scope::default());
        let compiled = Compiled::new(&snapshot, &all).expect("the request is valid");
        let index = snapshot.find("tool_5").expect("it is registered");
        group.bench_with_input(BenchmarkId::new("evaluate", size), &size, |bencher, _| {
            bencher.iter(|| evaluate(black_box(&snapshot), &compiled, index));
        });
        group.bench_with_input(BenchmarkId::new("authorize_call", size), &size, |bencher, _| {
            bencher.iter(|| authorize_call(black_box(&snapshot), &all, "tool_5"));
        });
        group.bench_with_input(BenchmarkId::new("disable and swap", size), &size, |bencher, _| {
            bencher.iter(|| snapshot.with_disable("tool_7", 2, Some(disable())));
        });
    }
    group.finish();
}

/// A server's tools, as it lists them.
fn listed(server: &str, tools: usize, about: &str) -> (Arc<str>, ServerTools) {
    let marks = || McpMarks {
        expose: true,
        defer: true,
        unsafe_in: Vec::new(),
        toolsets: Vec::new(),
        kind: None,
        effect: None,
        trust_annotations: false,
        held: None,
        call: UpstreamCall { generation: 1, max_result_chars: 30_000 },
    };
    let tools = (0..tools).map(|position| {
        let listed = json!({
            "name": format!("tool_{position}"),
            "description": format!("{about} number {position} of all that this server has to offer."),
            "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        });
        let definition = McpDefinition::read(&listed).expect("it is well formed");
        Arc::new(definition.tool(server, marks()).expect("it is well formed"))
    });
    (server.into(), ServerTools { tools: tools.collect(), ..ServerTools::default() })
}

fn servers(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("servers");
    for size in [526, 5_000] {
        let others = listed("others", size - 500, "Tool");
        let snapshot = snapshot(7).with_servers([others, listed("changing", 500, "Tool")]);
        let changed = listed("changing", 500, "Changed tool");
        group.bench_with_input(BenchmarkId::new("swap 500 tools", size), &size, |bencher, _| {
            bencher.iter(|| black_box(&snapshot).with_servers([changed.clone()]));
        });
        let request = request(Scope::default());
        let wanted = Search::read(vec!["number 7 of all".to_owned()], Vec::new(), 5);
        group.bench_with_input(BenchmarkId::new("search", size), &size, |bencher, _| {
            bencher.iter(|| search(black_box(&snapshot), &request, &wanted));
        });
    }
    group.finish();
}

criterion_group!(all, benches, servers);
criterion_main!(all);
