//! With the features `serde`, `tracing` and `indicatif`: what a run did and what a program is, as data for other programs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autobatch::{Engine, Executor, Options, autobatch};
use serde_json::Value;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[autobatch]
fn fib(n: u64) -> u64 {
    if n <= 1 { 1 } else { fib(n - 2) + fib(n - 1) }
}

fn numbers() -> Vec<u64> {
    (0..400).map(|i| i % 17).collect()
}

/// One test runs a batch at a time: `tracing` may keep that nobody listens to a span, if it is met for the first time while another thread
/// begins to listen.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn programs_reports_and_traces_are_data() {
    let _alone = alone();
    let program = serde_json::to_value(fib_batched::program()).unwrap();
    assert_eq!((&program["name"], &program["recursive"]), (&Value::from("fib"), &Value::from(true)));
    assert_eq!(program["blocks"].as_array().unwrap().len(), fib_batched::program().blocks.len());
    assert_eq!(program["call_sites"][0]["batching"], "Program");
    assert!(program.get("text").is_none() && program.get("strip").is_none(), "{program}");

    let options = Options::default().executor(Executor::ProgramCounter).count_blocks(true).trace(5);
    let outcome = fib_batched_with(numbers(), &options).unwrap();
    let report = serde_json::to_value(outcome.report()).unwrap();
    assert_eq!((&report["members"], &report["engine"]), (&Value::from(400), &Value::from("Machine")));
    assert_eq!(report["blocks"][0]["label"], "entry");
    let recorded = outcome.trace().unwrap();
    assert_eq!(report["trace"]["steps"].as_array().unwrap().len(), recorded.steps.len());
    assert_eq!(outcome.into_values().unwrap(), numbers().into_iter().map(fib).collect::<Vec<_>>());
}

#[test]
fn chromes_format_has_each_step_of_each_member() {
    let _alone = alone();
    let outcome =
        fib_batched_with(&[5, 3, 1], &Options::default().executor(Executor::Masked).trace(3)).unwrap();
    let trace = outcome.trace().unwrap();
    let json: Value = serde_json::from_str(&trace.to_chrome_json()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    // Perfetto's own reader takes it without a complaint; it wants these of each kind.
    let of = |kind: &str| events.iter().filter(|event| event["ph"] == kind).collect::<Vec<_>>();
    let process = events[0]["pid"].as_u64().unwrap();
    assert_eq!(events[0]["args"]["name"], "fib, Masked");
    let threads: Vec<&str> = of("M")[1..].iter().map(|e| e["args"]["name"].as_str().unwrap()).collect();
    assert_eq!(threads, ["member 0, row", "member 1, row", "member 2, row"]);
    assert_eq!(of("C").len(), trace.steps.len());
    for (step, counter) in trace.steps.iter().zip(of("C")) {
        assert_eq!(counter["args"]["active"], step.active);
        assert_eq!(counter["args"]["idle"], step.lanes - step.active);
    }
    let mut ends = [0; 4];
    for event in of("X") {
        let number = |field: &str| event[field].as_u64().unwrap();
        let thread = number("tid") as usize;
        assert!(number("pid") == process && thread != 0 && number("tid") != process, "{event}");
        assert!(
            number("ts") >= ends[thread] && number("dur") > 0,
            "neither empty nor one in another: {event}"
        );
        assert!(event["name"].is_string() && event["args"]["depth"].is_u64(), "{event}");
        ends[thread] = number("ts") + number("dur");
    }
    assert_eq!(of("M").len() + of("C").len() + of("X").len(), events.len());
    let visits: usize = trace.steps.iter().map(|step| step.visits.len()).sum();
    let time: u64 = of("X").iter().map(|event| event["dur"].as_u64().unwrap()).sum();
    assert_eq!(time, visits as u64);
}

#[test]
fn a_bar_shows_the_members_that_are_done() {
    let _alone = alone();
    for executor in [Executor::Masked, Executor::ProgramCounter, Executor::Scalar, Executor::Auto] {
        let bar = indicatif::ProgressBar::hidden();
        let options =
            Options::default().executor(executor).only((0..400).map(|i| i % 2 == 0)).progress_bar(&bar);
        let outcome = fib_batched_with(numbers(), &options).unwrap();
        assert_eq!((bar.position(), bar.length()), (200, Some(200)), "{executor:?}");
        let values: Vec<u64> = outcome.into_values().unwrap();
        let want = numbers().into_iter().step_by(2).map(fib);
        assert_eq!(values, want.collect::<Vec<_>>(), "{executor:?}");
    }
}

/// Keeps the spans' names and what is recorded of them.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

impl Listener {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0 += &format!(" {}={value:?}", field.name());
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        self.note(fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = Fields("record".to_owned());
        values.record(&mut fields);
        self.note(fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn a_run_has_spans() {
    let _alone = alone();
    let listener = Listener::default();
    let options = Options::default().executor(Executor::Masked).threads(1);
    let outcome = tracing::subscriber::with_default(listener.clone(), || {
        fib_batched_with(numbers(), &options).unwrap()
    });
    assert_eq!(outcome.report().engine, Engine::TaskBlocks);
    let heard = listener.0.lock().unwrap();
    assert_eq!(
        heard[..3],
        ["autobatch function=\"fib\" members=400", "phase executor=Masked threads=1", "worker"]
    );
    assert!(heard.iter().any(|text| text == "record engine=task blocks"), "{heard:?}");
}
