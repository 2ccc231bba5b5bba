//! Decides whether a request whose connection was lost is sent again: it must not be, since nobody
//! knows what the provider did with it.

use std::sync::Arc;

use openai_adapter::{Api, OpenAiSession};
use router_adapter::Router;
use runtime_kernel::{AgentRuntime, SessionRunRequest};
use runtime_ports::{CommitDisposition, ModelProfile, PortFailure, TurnEnd};
use system_tests::{ChatServer, OneQuestion};
use uuid::Uuid;

async fn check(api: Api) {
    let server = ChatServer::hanging_up().await.unwrap();
    let profile = ModelProfile {
        context_window_tokens: 8_192,
        max_input_tokens: 8_192,
        max_output_tokens: None,
        images: false,
        price: None,
    };
    let session = OpenAiSession::builder(server.base_url()).api(api).profile("m", profile);
    let router = Router::single(Arc::new(session.build().unwrap()), "m");
    let request = SessionRunRequest {
        user_id: "ada".into(),
        operation_id: Uuid::new_v4(),
        rounds_used: 0,
        round_limit: 3,
    };
    let mut host = OneQuestion::new("m", "Is anybody there?");
    let error = AgentRuntime::new(Arc::new(router)).run_session(request, &mut host).await;
    let error = error.unwrap_err();
    let failure = error.downcast_ref::<PortFailure>().expect("a port failed");
    assert_eq!(failure.commit, CommitDisposition::Unknown, "{failure}");
    assert_eq!(server.requests_seen(), 1, "{api:?}: {failure}");
    let [receipt] = &host.receipts[..] else { panic!("{:?}", host.receipts) };
    assert_eq!((receipt.end, receipt.requests.len()), (TurnEnd::Failed, 1));
}

#[tokio::test]
async fn a_request_whose_connection_was_lost_is_sent_once() {
    check(Api::Chat).await;
    check(Api::Responses).await;
}
