//! Decides what a round of a growing conversation costs in the adapter, over loopback, in CPU time
//! of the thread that asks.
//!
//! Knows nothing about real servers. With `--check` only the last round is compared with the first,
//! and a broken bound is a failure. The same number of bytes is also written to the same server
//! without HTTP and without the adapter: what the protocol forces onto the wire is no cost of ours.

mod conversation;
#[path = "../../../runtime-kernel/benches/loops/cpu_time.rs"]
mod cpu_time;
mod placement;
mod ratio;
mod server;

use std::{process::ExitCode, time::Duration};

use criterion::{BenchmarkId, Criterion, SamplingMode};
use openai_adapter::{Api, OpenAiSession};
use runtime_ports::{DiscardDeltas, ModelSession, OperationContext, Transcript};
use runtime_types::{ExecutionId, OperationId};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::{Builder, Runtime},
    sync::Mutex,
};

use crate::{conversation::Conversation, cpu_time::CpuTime, server::Server};

const ROUNDS: [usize; 4] = [1, 50, 100, 200];

const APIS: [(&str, Api); 2] = [("chat", Api::Chat), ("responses", Api::Responses)];

fn main() -> ExitCode {
    placement::run(compared)
}

fn compared() -> ExitCode {
    let has = |word: &str| std::env::args().any(|argument| argument == word);
    let times = if has("--bench") { 2_000 } else { 1 };
    if has("--check") {
        let held = APIS.map(|(name, api)| compare(name, api, times));
        return if held.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    let settings = Criterion::default()
        .with_measurement(CpuTime)
        .without_plots()
        .sample_size(100)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    let mut criterion = settings.configure_from_args();
    for (name, api) in APIS {
        bench(&mut criterion, name, api);
        compare(name, api, times);
    }
    criterion.final_summary();
    ExitCode::SUCCESS
}

fn bench(criterion: &mut Criterion<CpuTime>, name: &str, api: Api) {
    let client = Client::new(api);
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat);
    for round in ROUNDS {
        let conversation = Conversation::before_round(round);
        let bytes = client.warmed_up(&conversation);
        group.bench_function(BenchmarkId::new("round", round), |bencher| {
            bencher.iter_custom(|times| client.rounds(&conversation, times));
        });
        let body = vec![b'x'; bytes];
        let raw = client.executor.block_on(client.connect());
        group.bench_function(BenchmarkId::new(format!("bytes_{bytes}"), round), |bencher| {
            bencher.iter_custom(|times| client.raw_writes(&raw, &body, times));
        });
    }
    group.finish();
}

/// The last round against the first, whatever filter was given; says whether the bound holds.
fn compare(name: &str, api: Api, times: usize) -> bool {
    let client = &Client::new(api);
    let [first, last] = [ROUNDS[0], ROUNDS[3]].map(Conversation::before_round);
    let [first_body, last_body] = [&first, &last].map(|round| vec![b'x'; client.warmed_up(round)]);
    let raw = &client.executor.block_on(client.connect());
    let costs: ratio::Costs<Box<dyn Fn() -> Duration>> = ratio::Costs {
        first_round: Box::new(move || client.rounds(&first, 1)),
        last_round: Box::new(move || client.rounds(&last, 1)),
        first_bytes: Box::new(move || client.raw_writes(raw, &first_body, 1)),
        last_bytes: Box::new(move || client.raw_writes(raw, &last_body, 1)),
    };
    ratio::report(name, times, &costs)
}

/// The side that is measured: one thread, which also drives the connection.
struct Client {
    executor: Runtime,
    server: Server,
    session: OpenAiSession,
}

impl Client {
    fn new(api: Api) -> Self {
        let executor = Builder::new_current_thread().enable_all().build().expect("an executor");
        let server = Server::start();
        let base = format!("http://{}/v1", server.address());
        let session = OpenAiSession::builder(base).api(api).build().expect("a plain address");
        Self { executor, server, session }
    }

    /// Plays the round once, so that what stood before it is encoded and the connection is open, as
    /// in a run that came this far. Gives the bytes of the request's body.
    fn warmed_up(&self, conversation: &Conversation) -> usize {
        self.rounds(conversation, 1);
        self.server.last_body()
    }

    fn rounds(&self, conversation: &Conversation, times: u64) -> Duration {
        self.executor.block_on(async {
            let before = CpuTime::now();
            for _ in 0..times {
                self.ask(conversation.with_what_is_new()).await;
            }
            CpuTime::now() - before
        })
    }

    async fn ask(&self, messages: Transcript) {
        let request = conversation::request(messages);
        let asked = self.session.invoke_streaming(&operation(), request, &DiscardDeltas).await;
        let response = asked.expect("the server answers every request");
        assert_eq!(response.output.len(), 1, "the answer is one call");
    }

    async fn connect(&self) -> Mutex<TcpStream> {
        let stream = TcpStream::connect(self.server.address()).await.expect("the server listens");
        stream.set_nodelay(true).expect("a tcp stream takes the option");
        Mutex::new(stream)
    }

    fn raw_writes(&self, stream: &Mutex<TcpStream>, body: &[u8], times: u64) -> Duration {
        self.executor.block_on(async {
            let mut stream = stream.lock().await;
            let before = CpuTime::now();
            for _ in 0..times {
                write_raw(&mut stream, body).await.expect("the server reads");
            }
            CpuTime::now() - before
        })
    }
}

async fn write_raw(stream: &mut TcpStream, body: &[u8]) -> std::io::Result<()> {
    stream.write_all(&server::raw_head(body.len())).await?;
    stream.write_all(body).await?;
    stream.read_u8().await.map(drop)
}

fn operation() -> OperationContext {
    let (id, execution_id) = (OperationId::new("round"), ExecutionId::new("bench"));
    OperationContext::root(
        id.expect("a valid identifier"),
        execution_id.expect("a valid identifier"),
        Duration::from_secs(60),
    )
}
