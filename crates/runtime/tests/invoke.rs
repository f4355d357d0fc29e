//! The call pipeline: each stage refuses or fails with its own code, and nothing a function does ends the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolshelf_core::{Caller, Code, Disable, FixAction, Identity, Refusal, Request, Role, Scope, Toolset};
use toolshelf_runtime::{CallRefused, FunctionError, FunctionSpec, Registry, RegistryBuilder, ToolReturn};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    /// What to say.
    text: String,
    /// How often.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 3))]
    times: usize,
}

fn once() -> usize {
    1
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

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

fn echo(builder: RegistryBuilder) -> RegistryBuilder {
    builder.function(FunctionSpec::new("echo", "test", "Says it."), |_, arguments: Echo| async move {
        Ok(arguments.text.repeat(arguments.times).into())
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn build(builder: RegistryBuilder) -> Registry {
    builder.build().unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[tokio::test]
async fn a_call_returns_what_the_body_returns() {
    let registry = build(echo(Registry::builder()));
    let arguments = object(json!({"text": "ab", "times": 2}));
    let invoked = registry.invoke(&request(Scope::default()), "echo", arguments).await.unwrap();
    assert_eq!((invoked.output, invoked.code), (ToolReturn::from("abab"), None));
}

#[tokio::test]
async fn arguments_are_checked_against_the_schema_and_each_error_names_its_place() {
    let registry = build(echo(Registry::builder()));
    for (arguments, pointers) in [
        (json!({}), &["/text"][..]),
        (json!({"text": 1}), &["/text"]),
        (json!({"text": "a", "times": 4}), &["/times"]),
        (json!({"text": "a", "times": null}), &["/times"]),
        (json!({"text": "a", "a/b~c": 1}), &["/a~1b~0c"]),
        (json!({"times": 0}), &["/times", "/text"]),
    ] {
        let refused =
            registry.invoke(&request(Scope::default()), "echo", object(arguments.clone())).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_input");
        let CallRefused::InvalidInput(errors) = refused else { panic!("{arguments}") };
        let mut found: Vec<&str> = errors.iter().map(|error| error.pointer.as_str()).collect();
        let mut expected = pointers.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{arguments}");
        assert!(errors.iter().all(|error| !error.message.is_empty()));
    }
}

#[tokio::test]
async fn each_refusal_has_its_code_and_the_body_never_runs() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let registry = build(Registry::builder().function(
        FunctionSpec { needs_conversation: true, ..FunctionSpec::new("count", "test", "Counts.") },
        move |_, _: Nothing| {
            counter.fetch_add(1, Ordering::SeqCst);
            async { Ok("".into()) }
        },
    ));
    let invoke = async |scope: Scope, name: &str| {
        registry.invoke(&request(scope), name, Map::new()).await.map_err(|refused| refused.code())
    };
    assert_eq!(invoke(Scope::default(), "cuont").await, Err("unknown_tool"));
    assert_eq!(invoke(Scope::default(), "count").await, Err("inactive"));
    let none = Scope { toolset: Some(Toolset::None), ..Scope::default() };
    assert_eq!(invoke(none, "count").await, Err("unauthorized"));
    registry.snapshot().mark_unready();
    assert_eq!(invoke(Scope::default(), "count").await, Err("unready"));
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_disable_counts_from_the_swap_on_whatever_was_listed_before() {
    let registry = build(echo(Registry::builder()));
    let asked = request(Scope::default());
    let say = || object(json!({"text": "a"}));
    assert!(registry.invoke(&asked, "echo", say()).await.is_ok());
    let disable = Disable { by: "ada".into(), reason: "no".into(), at: "2026-12-01T00:00:00Z".into() };
    let next = registry.snapshot().load().unwrap().with_disable("echo", 1, Some(disable));
    registry.snapshot().swap(next);
    assert_eq!(registry.invoke(&asked, "echo", say()).await.unwrap_err().code(), "unauthorized");
}

#[tokio::test]
async fn failures_of_a_body_are_results() {
    let slow = FunctionSpec {
        timeout: Duration::from_millis(1),
        ..FunctionSpec::new("slow", "test", "Never ends.")
    };
    let registry = build(
        Registry::builder()
            .function(FunctionSpec::new("fails", "test", "Fails."), |_, _: Nothing| async {
                Err(FunctionError::new("There is no such file."))
            })
            .function(FunctionSpec::new("panics", "test", "Panics."), |_, _: Nothing| async {
                assert_eq!(1, 2, "a secret detail");
                Ok("".into())
            })
            .function(
                FunctionSpec::new("panics_early", "test", "Panics before it is polled."),
                |_, _: Nothing| -> std::future::Ready<Result<ToolReturn, FunctionError>> {
                    panic!("a secret detail")
                },
            )
            .function(slow, |_, _: Nothing| std::future::pending()),
    );
    for (name, code, text) in [
        ("fails", "execution_failed", "There is no such file."),
        ("panics", "execution_failed", "failed unexpectedly"),
        ("panics_early", "execution_failed", "failed unexpectedly"),
        ("slow", "timed_out", "did not finish within 0.001 seconds"),
    ] {
        let invoked = registry.invoke(&request(Scope::default()), name, Map::new()).await.unwrap();
        assert_eq!((invoked.code, invoked.output.is_error), (Some(code), true), "{name}");
        assert!(invoked.output.text.contains(text), "{name}: {}", invoked.output.text);
        assert!(!invoked.output.text.contains("secret"), "{name}");
    }
}

#[tokio::test]
async fn results_are_cut_to_the_authors_limit() {
    let registry = build(Registry::builder().function(
        FunctionSpec { max_result_chars: 500, ..FunctionSpec::new("long", "test", "Says much.") },
        |_, _: Nothing| async { Ok("x".repeat(10_000).into()) },
    ));
    let invoked = registry.invoke(&request(Scope::default()), "long", Map::new()).await.unwrap();
    assert!(invoked.output.text.chars().count() <= 500);
    assert!(invoked.output.text.contains("of 10,000 characters left out"));
}

#[tokio::test]
async fn data_above_a_megabyte_is_left_out_and_that_is_said() {
    #[derive(Deserialize, JsonSchema)]
    struct Sized {
        text: String,
        bytes: usize,
    }
    let registry = build(Registry::builder().function(
        FunctionSpec { max_result_chars: 500, ..FunctionSpec::new("sized", "test", "Returns much.") },
        |_, Sized { text, bytes }| async move {
            // The quotes around a JSON text are two bytes.
            Ok(ToolReturn {
                text,
                data: Some("x".repeat(bytes - 2).into()),
                is_error: false,
                ..ToolReturn::default()
            })
        },
    ));
    let notice = "[The structured data was left out, because it is larger than 1 MB.]";
    for (text, bytes, expected) in [
        ("fits", 1_000_000, "fits".to_owned()),
        ("not", 1_000_001, format!("not\n\n{notice}")),
        ("", 1_000_001, notice.to_owned()),
    ] {
        let arguments = object(json!({"text": text, "bytes": bytes}));
        let output = registry.invoke(&request(Scope::default()), "sized", arguments).await.unwrap().output;
        assert_eq!((output.text, output.data.is_some()), (expected, bytes == 1_000_000));
    }
    let arguments = object(json!({"text": "x".repeat(10_000), "bytes": 2_000_000}));
    let output = registry.invoke(&request(Scope::default()), "sized", arguments).await.unwrap().output;
    assert!(output.text.chars().count() <= 500 && output.text.ends_with(notice), "{}", output.text);
    assert!(output.text.contains("of 10,000 characters left out"), "{}", output.text);
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Numbers {
    count: usize,
    #[serde(default)]
    ratio: f64,
    #[serde(default)]
    nested: Vec<std::collections::BTreeMap<String, i64>>,
}

fn numbers() -> Registry {
    build(Registry::builder().function(
        FunctionSpec::new("numbers", "test", "Repeats numbers."),
        |_, Numbers { count, ratio, nested }: Numbers| async move {
            Ok(format!("{count} {ratio:?} {nested:?}").into())
        },
    ))
}

#[tokio::test]
async fn whole_numbers_are_integers_however_they_are_written() {
    let registry = numbers();
    for (arguments, expected) in [
        (r#"{"count": 1e2}"#, "100 0.0 []"),
        (r#"{"count": 3.0, "ratio": 3.0}"#, "3 3.0 []"),
        (r#"{"count": 3, "ratio": 3.5}"#, "3 3.5 []"),
        (r#"{"count": 0, "ratio": 1e300}"#, "0 1e300 []"),
        (r#"{"count": 9e18, "nested": [{"a": -2.0}]}"#, "9000000000000000000 0.0 [{\"a\": -2}]"),
        (
            r#"{"count": 0, "nested": [{"a": -9223372036854775808.0}]}"#,
            "0 0.0 [{\"a\": -9223372036854775808}]",
        ),
    ] {
        let arguments = serde_json::from_str(arguments).unwrap();
        let invoked = registry.invoke(&request(Scope::default()), "numbers", arguments).await.unwrap();
        assert_eq!(invoked.output.text, expected);
    }
}

#[tokio::test]
async fn numbers_that_do_not_fit_are_refused_without_words_of_rust() {
    let registry = numbers();
    for (arguments, pointer, message) in [
        (r#"{"count": 3.5}"#, "/count", "integer"),
        (r#"{"count": 1e300}"#, "", "is outside of what the tool can take."),
        (r#"{"count": 0, "nested": [{"a": 9223372036854775808}]}"#, "", "The number 9223372036854775808 is"),
    ] {
        let arguments = serde_json::from_str(arguments).unwrap();
        let refused = registry.invoke(&request(Scope::default()), "numbers", arguments).await.unwrap_err();
        let CallRefused::InvalidInput(errors) = refused else { panic!("{refused:?}") };
        assert_eq!((errors.len(), errors[0].pointer.as_str()), (1, pointer));
        let text = &errors[0].message;
        assert!(text.contains(message), "{text}");
        for word in ["usize", "i64", "u64", "f64", "floating point", "expected"] {
            assert!(!text.contains(word), "{text}");
        }
    }
}

#[tokio::test]
async fn what_only_the_argument_type_refuses_is_said_without_its_name() {
    #[derive(Debug)]
    struct Even;

    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            if text.len() % 2 == 0 { Ok(Self) } else { Err(serde::de::Error::custom("struct Even")) }
        }
    }

    impl JsonSchema for Even {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Even".into()
        }

        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            String::json_schema(generator)
        }
    }

    #[derive(Deserialize, JsonSchema)]
    struct Texts {
        text: Even,
    }

    let registry = build(Registry::builder().function(
        FunctionSpec::new("even", "test", "Takes texts of an even length."),
        |_, Texts { text }: Texts| async move { Ok(format!("{text:?}").into()) },
    ));
    let call = async |text: &str| {
        let arguments = object(json!({"text": text}));
        registry.invoke(&request(Scope::default()), "even", arguments).await
    };
    assert!(call("ab").await.is_ok());
    let CallRefused::InvalidInput(errors) = call("abc").await.unwrap_err() else { panic!("wrong stage") };
    assert!(errors[0].message.starts_with("The tool cannot read the arguments"), "{errors:?}");
    assert!(!errors[0].message.contains("Even"), "{errors:?}");
}

#[tokio::test]
async fn dropping_a_call_cancels_work_on_other_threads() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let registry = build(Registry::builder().function(
        FunctionSpec::new("waits", "test", "Waits."),
        move |context, _: Nothing| {
            let sent = sender.lock().unwrap().take().unwrap().send(context.cancel);
            assert!(sent.is_ok());
            std::future::pending()
        },
    ));
    let asked = request(Scope::default());
    let call = registry.invoke(&asked, "waits", Map::new());
    let cancel = tokio::select! {
        _ = call => panic!("it never ends"),
        cancel = receiver => cancel.unwrap(),
    };
    assert!(cancel.is_cancelled(), "the call was dropped with the select");
}

#[tokio::test]
async fn a_check_that_fails_or_panics_makes_a_tool_unavailable_with_the_reason() {
    let broken = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&broken);
    let check =
        move || if state.load(Ordering::SeqCst) { Err("the folder is gone".to_owned()) } else { Ok(()) };
    let registry = build(
        Registry::builder()
            .function(
                FunctionSpec {
                    check: Some(Arc::new(check)),
                    ..FunctionSpec::new("checked", "test", "Checked.")
                },
                |_, _: Nothing| async { Ok("".into()) },
            )
            .function(
                FunctionSpec {
                    check: Some(Arc::new(|| panic!("in a check"))),
                    ..FunctionSpec::new("panicking", "test", "Its check panics.")
                },
                |_, _: Nothing| async { Ok("".into()) },
            ),
    );
    let asked = request(Scope::default());
    assert!(registry.invoke(&asked, "checked", Map::new()).await.is_ok());
    assert_eq!(registry.invoke(&asked, "panicking", Map::new()).await.unwrap_err().code(), "inactive");
    // The snapshot still says that it can run; the call asks again.
    broken.store(true, Ordering::SeqCst);
    let refused = registry.invoke(&asked, "checked", Map::new()).await.unwrap_err();
    assert!(format!("{refused:?}").contains("the folder is gone"));
    let snapshot = registry.with_checks(&registry.snapshot().load().unwrap());
    let card = snapshot.card(snapshot.find("checked").unwrap(), false);
    assert_eq!(card.available.reason.as_deref(), Some("the folder is gone"));
}

#[test]
fn functions_of_one_name_and_wrong_definitions_are_named() {
    let errors = echo(echo(Registry::builder())).build().err().unwrap();
    let text: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert!(text.iter().any(|error| error.contains("two tools are named echo")), "{text:?}");
    let bad = Registry::builder()
        .function(FunctionSpec::new("not a name", "test", ""), |_, _: Nothing| async { Ok("".into()) })
        .build();
    assert!(bad.err().unwrap()[0].to_string().contains("not a name"));
}

#[test]
fn parameters_come_from_the_argument_type_and_are_closed() {
    let registry = build(echo(Registry::builder()));
    let snapshot = registry.snapshot().load().unwrap();
    let parameters = snapshot.tool(snapshot.find("echo").unwrap()).parameters().clone();
    assert_eq!(parameters["additionalProperties"], false);
    assert_eq!(parameters["required"], json!(["text"]));
    assert_eq!(parameters["properties"]["text"]["description"], "What to say.");
    assert_eq!(parameters["properties"]["times"]["maximum"], 3);
    assert!(parameters.get("$schema").is_none() && parameters.get("title").is_none());
}

/// `requires_env`: set, and to something. What was set when the snapshot was made may be gone at the call.
#[tokio::test]
async fn a_tool_whose_variables_are_missing_is_unavailable_and_names_them() {
    let set = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&set);
    let spec = FunctionSpec {
        requires_env: &["WEATHER_URL", "WEATHER_KEY"],
        ..FunctionSpec::new("weather", "test", "Tells the weather.")
    };
    let builder = Registry::builder()
        .variables(move |name| name == "WEATHER_URL" || now.load(Ordering::SeqCst))
        .function(spec, |_, _: Nothing| async { Ok("sunny".into()) });
    let registry = build(builder);
    let asked = request(Scope::default());
    let verdict = |refused: CallRefused| match refused {
        CallRefused::Refused(Refusal::Removed(verdict)) => verdict,
        other => panic!("{other:?}"),
    };
    let missing = verdict(registry.invoke(&asked, "weather", Map::new()).await.unwrap_err());
    assert_eq!((missing.code, missing.reason.as_deref()), (Code::MissingEnvironment, Some("WEATHER_KEY")));
    assert_eq!(missing.fix.unwrap().action, FixAction::SetEnvironment);
    set.store(true, Ordering::SeqCst);
    let snapshot = registry.with_checks(&registry.snapshot().load().unwrap());
    registry.snapshot().swap(snapshot);
    assert_eq!(registry.invoke(&asked, "weather", Map::new()).await.unwrap().output.text, "sunny");
    set.store(false, Ordering::SeqCst);
    let gone = verdict(registry.invoke(&asked, "weather", Map::new()).await.unwrap_err());
    assert_eq!(gone.code, Code::MissingEnvironment, "it is asked again at the call");
}
