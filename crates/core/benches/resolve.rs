//! How long the resolver takes, by the size of the registry.

#[path = "../tests/it/support.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod support;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use support::{definition, disable, request, tool};
use toolshelf_core::{Compiled, Scope, Snapshot, Toolset, authorize_call, evaluate, resolve};

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

criterion_group!(all, benches);
criterion_main!(all);
