//! The agent loop, with a model that says what a test wants and a log that remembers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolshelf_core::{
    Caller, Code, Disable, Effect, Identity, Loaded, ModelLimits, Request, Role, Scope, Toolset,
};
use toolshelf_runtime::{
    Begin, End, FunctionError, FunctionSpec, Model, ModelError, ModelInfo, Piece, Prompt, Registry,
    RegistryBuilder, Round, Said, ToolCall, TurnError, TurnLog, run_turn,
};

type Answer = Box<dyn FnOnce(&Prompt) -> Vec<Result<Piece, ModelError>> + Send>;

/// A model that gives these answers, one for each question.
struct Script {
    info: ModelInfo,
    answers: Mutex<VecDeque<Answer>>,
    prompts: Mutex<Vec<Prompt>>,
}

impl Script {
    fn new(answers: Vec<Answer>) -> Self {
        let info = ModelInfo {
            name: "script".to_owned(),
            title: String::new(),
            description: String::new(),
            limits: ModelLimits::default(),
        };
        Self { info, answers: Mutex::new(answers.into()), prompts: Mutex::default() }
    }

    fn rounds(&self, question: usize) -> Vec<Arc<Round>> {
        self.prompts.lock().unwrap()[question].rounds.clone()
    }
}

impl Model for Script {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn answer(&self, prompt: Prompt) -> BoxStream<'static, Result<Piece, ModelError>> {
        self.prompts.lock().unwrap().push(prompt.clone());
        let answer = self.answers.lock().unwrap().pop_front().expect("a question too many");
        stream::iter(answer(&prompt)).boxed()
    }
}

fn says(pieces: Vec<Piece>) -> Answer {
    Box::new(|_| pieces.into_iter().map(Ok).collect())
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn call(name: &str, arguments: &str) -> Piece {
    Piece::Call(ToolCall { id: "id".to_owned(), name: name.to_owned(), arguments: arguments.to_owned() })
}

/// Remembers what it was told, one line for each thing.
#[derive(Default)]
struct Lines {
    lines: Arc<Mutex<Vec<String>>>,
    /// The part that cannot be kept.
    fails_at: Option<usize>,
}

impl Lines {
    fn all(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    fn says(&self, part: &str) -> bool {
        self.all().iter().any(|line| line.contains(part))
    }
}

#[async_trait]
impl TurnLog for Lines {
    async fn begin(&self, part: Begin<'_>) -> Result<u32, TurnError> {
        let mut lines = self.lines.lock().unwrap();
        let number = lines.iter().filter(|line| line.starts_with("begin")).count() + 1;
        if self.fails_at == Some(number) {
            return Err(TurnError::Log("the disk is full".to_owned()));
        }
        lines.push(match part {
            Begin::ModelCall => format!("begin {number} model"),
            Begin::ToolCall { parent, call } => {
                format!("begin {number} of {parent} {} {}", call.name, call.shown_arguments())
            }
        });
        Ok(u32::try_from(number).unwrap())
    }

    fn wrote(&self, number: u32, text: &str) {
        self.lines.lock().unwrap().push(format!("wrote {number} {text}"));
    }

    async fn end(&self, number: u32, end: End) -> Result<(), TurnError> {
        let End { text, code, verdict } = end;
        let verdict = verdict.map(|verdict| verdict.code.as_str());
        self.lines.lock().unwrap().push(format!("end {number} {text:?} {code:?} {verdict:?}"));
        Ok(())
    }

    async fn loaded(&self, loaded: &[Loaded]) -> Result<(), TurnError> {
        let tools: Vec<&str> = loaded.iter().map(|loaded| loaded.tool.as_ref()).collect();
        self.lines.lock().unwrap().push(format!("loaded {}", tools.join(" ")));
        Ok(())
    }
}

fn request(scope: Scope) -> Request {
    #[expect(clippy::disallowed_methods, reason = "the test says who asks")]
    let caller = Caller::authenticated(Identity {
        user_id: "u1".into(),
        username: "bob".into(),
        role: Role::User,
        key: None,
    });
    Request::new(caller, scope)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Word {
    #[serde(default)]
    word: String,
    #[serde(default)]
    times: usize,
}

/// `echo` repeats a word, `fails` fails, `panics` panics.
fn tools() -> RegistryBuilder {
    Registry::builder()
        .function(FunctionSpec::new("echo", "test", "Says it."), |_, Word { word, times }| async move {
            Ok(word.repeat(times.max(1)).into())
        })
        .function(FunctionSpec::new("fails", "test", "Fails."), |_, Word { word, .. }| async move {
            if word == "not" { Ok("worked".into()) } else { Err(FunctionError::new("no")) }
        })
        .function(FunctionSpec::new("panics", "test", "Panics."), |_, _: Word| async {
            assert_eq!(1, 2, "a secret detail");
            Ok("".into())
        })
}

fn build(builder: RegistryBuilder) -> Registry {
    builder.build().unwrap_or_else(|errors| panic!("{errors:?}"))
}

async fn run(registry: &Registry, model: &Script, log: &Lines) -> Result<String, TurnError> {
    run_turn(registry, model, &request(Scope::default()), Vec::new(), "hi".to_owned(), log).await
}

/// The texts of the results of the first round.
async fn results(calls: Vec<Piece>) -> Vec<(String, Option<String>)> {
    let model = Script::new(vec![says(calls), says(vec![text("done")])]);
    assert_eq!(run(&build(tools()), &model, &Lines::default()).await.unwrap(), "done");
    let rounds = model.rounds(1);
    rounds[0].results.iter().map(|result| (result.text.clone(), result.code.clone())).collect()
}

#[tokio::test]
async fn a_call_is_kept_before_it_runs_and_its_result_goes_back_to_the_model() {
    let log = Lines::default();
    let lines = Arc::clone(&log.lines);
    let registry = build(Registry::builder().function(
        FunctionSpec::new("note", "test", "Notes."),
        move |_, _: Word| {
            lines.lock().unwrap().push("runs".to_owned());
            async { Ok("noted".into()) }
        },
    ));
    let model = Script::new(vec![
        says(vec![text("Let me "), text("look."), call("note", r#"{"word": "a"}"#)]),
        says(vec![text("There.")]),
    ]);
    let before = vec![Said::User("earlier".to_owned()), Said::Assistant("yes".to_owned())];
    let asked = request(Scope::default());
    let answer = run_turn(&registry, &model, &asked, before.clone(), "hi".to_owned(), &log).await;
    assert_eq!(answer.as_deref(), Ok("There."));
    assert_eq!(
        log.all(),
        [
            "begin 1 model",
            "wrote 1 Let me ",
            "wrote 1 look.",
            "end 1 None None None",
            "begin 2 of 1 note {\"word\":\"a\"}",
            "runs",
            "end 2 Some(\"noted\") None None",
            "begin 3 model",
            "wrote 3 There.",
            "end 3 None None None",
        ]
    );
    let prompts = model.prompts.lock().unwrap();
    assert!(prompts.iter().all(|prompt| *prompt.before == before[..] && &*prompt.message == "hi"));
    assert!(prompts[0].rounds.is_empty());
    let round = &prompts[1].rounds[0];
    assert_eq!((round.text.as_str(), round.results[0].text.as_str()), ("Let me look.", "noted"));
    assert_eq!(round.results[0].call.id, "id");
}

#[tokio::test]
async fn a_call_that_cannot_be_kept_does_not_run() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let registry = build(Registry::builder().function(
        FunctionSpec::new("count", "test", "Counts."),
        move |_, _: Word| {
            counter.fetch_add(1, Ordering::SeqCst);
            async { Ok("".into()) }
        },
    ));
    let model = Script::new(vec![says(vec![call("count", ""), call("count", "")])]);
    let log = Lines { fails_at: Some(2), ..Lines::default() };
    let error = run(&registry, &model, &log).await.unwrap_err();
    assert_eq!((error.code(), runs.load(Ordering::SeqCst)), ("store_failed", 0));
}

/// Runs twenty calls of a tool with this effect; returns the most that ran at once, and the order in which they ran.
async fn twenty(effect: Effect) -> (usize, Vec<usize>) {
    let (running, most, order) =
        (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let registry = build(Registry::builder().function(
        FunctionSpec { effect, ..FunctionSpec::new("work", "test", "Works.") },
        {
            let (most, order) = (Arc::clone(&most), Arc::clone(&order));
            move |_, Word { times, .. }| {
                let (running, most, order) = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&order));
                async move {
                    order.lock().unwrap().push(times);
                    let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    // All others that may run get so far before this one goes on.
                    for _ in 0..100 {
                        tokio::task::yield_now().await;
                    }
                    running.fetch_sub(1, Ordering::SeqCst);
                    Ok(times.to_string().into())
                }
            }
        },
    ));
    let calls = (0..20).map(|number| call("work", &json!({"times": number}).to_string())).collect();
    let model = Script::new(vec![says(calls), says(vec![])]);
    run(&registry, &model, &Lines::default()).await.unwrap();
    let rounds = model.rounds(1);
    let texts: Vec<String> = rounds[0].results.iter().map(|result| result.text.clone()).collect();
    assert_eq!(texts, (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
    let order = order.lock().unwrap().clone();
    (most.load(Ordering::SeqCst), order)
}

#[tokio::test]
async fn calls_that_read_run_side_by_side_up_to_eight_and_others_one_by_one() {
    assert_eq!(twenty(Effect::Read).await.0, 8);
    for effect in [Effect::Write, Effect::Destructive, Effect::External] {
        assert_eq!(twenty(effect).await, (1, (0..20).collect()), "{effect:?}");
    }
}

#[tokio::test]
async fn what_a_model_gets_wrong_is_a_result_that_says_so() {
    let long = format!("{{\"word\": \"{}\"}}", "x".repeat(400_000));
    let name = "n".repeat(1_000);
    let found = results(vec![
        call("echo", r#"{"word": "a""#),
        call("echo", "[1]"),
        call("echo", &long),
        call("echo", r#"{"times": "x", "b": 1}"#),
        call("echoo", "{}"),
        call(&name, "{}"),
        call("panics", "{}"),
        call("echo", " "),
    ])
    .await;
    for ((text, code), (part, expected)) in found.iter().zip([
        ("no JSON: EOF while parsing an object at line 1 column 12", Some("invalid_input")),
        ("no object", Some("invalid_input")),
        ("longer than 400 kB", Some("invalid_input")),
        ("times: ", Some("invalid_input")),
        ("no tool named \"echoo\". Did you mean echo?", Some("unknown_tool")),
        ("…", Some("unknown_tool")),
        ("failed unexpectedly", Some("execution_failed")),
        ("", None),
    ]) {
        assert!(text.contains(part) && text.len() < 500, "{part} is not in {text:.500}");
        assert_eq!(code.as_deref(), expected, "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    assert_eq!(found.len(), 8);
}

#[tokio::test]
async fn a_tool_that_is_disabled_in_the_middle_is_neither_offered_nor_called() {
    let registry = Arc::new(build(tools()));
    let inner = Arc::clone(&registry);
    let model = Script::new(vec![
        says(vec![call("echo", r#"{"word": "a"}"#)]),
        Box::new(move |prompt: &Prompt| {
            assert_eq!(prompt.resolution.offered.len(), 3);
            let disable = Disable { by: "ada".into(), reason: "broken".into(), at: "now".into() };
            let next = inner.snapshot().load().unwrap().with_disable("echo", 1, Some(disable));
            inner.snapshot().swap(next);
            // The model still remembers it.
            vec![Ok(call("echo", r#"{"word": "b"}"#))]
        }),
        Box::new(|prompt: &Prompt| {
            assert_eq!(prompt.resolution.offered.len(), 2);
            vec![Ok(text("well"))]
        }),
    ]);
    let log = Lines::default();
    assert_eq!(run(&registry, &model, &log).await.as_deref(), Ok("well"));
    let rounds = model.rounds(2);
    assert_eq!(rounds[0].results[0].text, "a");
    let refused = &rounds[1].results[0];
    assert_eq!(refused.code.as_deref(), Some("unauthorized"));
    let words = "ada disabled it for everyone: broken. An admin can enable echo again.";
    assert!(refused.text.ends_with(words), "{}", refused.text);
    assert!(log.says(Code::GloballyDisabled.as_str()), "{:?}", log.all());
}

#[tokio::test]
async fn a_call_outside_of_the_toolset_is_refused_whatever_the_model_knows() {
    let model = Script::new(vec![says(vec![call("echo", r#"{"word": "secret"}"#)]), says(vec![])]);
    let scope = Scope { toolset: Some(Toolset::List(vec!["fails".to_owned()])), ..Scope::default() };
    let log = Lines::default();
    run_turn(&build(tools()), &model, &request(scope), Vec::new(), String::new(), &log).await.unwrap();
    assert!(log.says("Some(\"unauthorized\") Some(\"not_in_toolset\")"), "{:?}", log.all());
}

#[tokio::test]
async fn the_third_failure_of_the_same_call_ends_the_turn() {
    // The order of members makes no other call, a success in between counts anew, and others may fail as well.
    let failing = |arguments: &str| says(vec![call("fails", arguments)]);
    let model = Script::new(vec![
        failing(r#"{"word": "a", "times": 1}"#),
        failing(r#"{"word": "b"}"#),
        failing(r#"{"times": 1, "word": "a"}"#),
        failing(r#"{"word": "not"}"#),
        failing(r#"{"word": "b"}"#),
        failing(r#"{ "word": "a", "times": 1 }"#),
    ]);
    let error = run(&build(tools()), &model, &Lines::default()).await.unwrap_err();
    assert_eq!((error.code(), error), ("repeated_failure", TurnError::Repeats("fails".to_owned())));
    assert!(model.answers.lock().unwrap().is_empty());
    // Three at once are three.
    let model = Script::new(vec![says(vec![call("nope", "{"), call("nope", "{"), call("nope", "{")])]);
    assert_eq!(run(&build(tools()), &model, &Lines::default()).await.unwrap_err().code(), "repeated_failure");
}

#[tokio::test]
async fn a_turn_has_bounds() {
    let registry = build(tools());
    let again = |count: usize, calls: usize| -> Vec<Answer> {
        (0..count).map(|_| says(vec![call("echo", "{}"); calls])).collect()
    };
    for (answers, code, left) in [
        (again(60, 1), "too_many_iterations", 10),
        (again(10, 64), "too_many_calls", 2),
        (again(1, 65), "model_failed", 0),
        (vec![says(vec![text(&"x".repeat(300_000)), text(&"y".repeat(100_001))])], "model_failed", 0),
    ] {
        let model = Script::new(answers);
        assert_eq!(run(&registry, &model, &Lines::default()).await.unwrap_err().code(), code);
        assert_eq!(model.answers.lock().unwrap().len(), left, "{code}");
    }
}

#[tokio::test]
async fn a_model_that_fails_or_panics_ends_the_turn_and_what_it_wrote_is_kept() {
    let registry = build(tools());
    let broken: Answer =
        Box::new(|_| vec![Ok(text("half")), Err(ModelError("The key is wrong.".to_owned()))]);
    let panics: Answer = Box::new(|_| panic!("a secret detail"));
    for (answer, says) in [(broken, "The key is wrong."), (panics, "The model failed unexpectedly.")] {
        let (model, log) = (Script::new(vec![answer]), Lines::default());
        let error = run(&registry, &model, &log).await.unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), ("model_failed", says));
        assert_eq!(log.all().last().map(String::as_str), Some("end 1 None Some(\"model_failed\") None"));
    }
    let later: Answer = Box::new(|_| vec![Ok(text("half")), Ok(text("way"))]);
    let model = Script::new(vec![later]);
    registry.snapshot().mark_unready();
    assert_eq!(run(&registry, &model, &Lines::default()).await.unwrap_err().code(), "unready");
    assert!(model.prompts.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_result_leaves_room_in_the_context_window() {
    let registry = build(tools().function(
        FunctionSpec { max_result_chars: 500, ..FunctionSpec::new("short", "test", "Says little.") },
        |_, Word { word, times }| async move { Ok(word.repeat(times).into()) },
    ));
    for (window, tool, most) in [
        (None, "echo", 30_000),
        (Some(1_000_000), "echo", 30_000),
        (Some(10_000), "echo", 12_000),
        (Some(10), "echo", 2_000),
        (Some(10), "short", 500),
    ] {
        let arguments = r#"{"word": "x", "times": 50000}"#;
        let mut model = Script::new(vec![says(vec![call(tool, arguments)]), says(vec![])]);
        model.info.limits.context_window = window;
        run(&registry, &model, &Lines::default()).await.unwrap();
        let text = model.rounds(1)[0].results[0].text.clone();
        let length = text.chars().count();
        assert!(length <= most && length > most - 20, "{window:?} {tool}: {length}");
        assert!(text.contains("of 50,000 characters left out"), "{text:.200}");
    }
}
