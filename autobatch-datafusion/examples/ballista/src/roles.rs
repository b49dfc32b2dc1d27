//! What the processes do: a scheduler plans and hands out tasks, an executor runs them, and a client asks.

use std::fs::create_dir_all;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as Listener};
use std::sync::Arc;
use std::time::Duration;

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_executor::health::ExecutorHealth;
use ballista_scheduler::SessionBuilder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::{Result, functions};

/// After so many seconds without a sign of life an executor counts as lost, and others get its tasks. Ballista's own value is 180.
///
/// An executor asks for tasks 20 times in a second, but only each 5 seconds while it is busy. So this has to be more than 5.
pub const LOST_AFTER: u64 = 8;

/// Executors ask the scheduler for tasks. If the scheduler hands tasks to them, which is Ballista's default, the reason for which an executor refuses
/// a task does not get to the client: the error is "task could not be prepared or was rejected by executor".
const POLICY: TaskSchedulingPolicy = TaskSchedulingPolicy::PullStaged;

/// How a role says that it is ready: the first line that it prints has this, and the address.
pub const READY: &str = "ready at ";

/// A scheduler; the port 0 is any that is free. It returns only with an error.
///
/// Without the functions it is one of another binary, and refuses plans that call them.
pub async fn scheduler(address: SocketAddr, has_functions: bool) -> Result<()> {
    let listener =
        TcpListener::bind(address).await.map_err(|error| format!("no scheduler at {address}: {error}"))?;
    let address = listener.local_addr()?;
    // A client's plan has functions by their names. The scheduler finds them in this state.
    let session_builder: SessionBuilder = Arc::new(functions::session_state);
    let config = SchedulerConfig {
        external_host: address.ip().to_string(),
        bind_host: address.ip().to_string(),
        bind_port: address.port(),
        scheduling_policy: POLICY,
        executor_timeout_seconds: LOST_AFTER,
        expire_dead_executor_interval_seconds: 1,
        // If all executors are lost, queries end with an error after this time.
        no_executors_grace_period_seconds: LOST_AFTER,
        override_session_builder: has_functions.then_some(session_builder),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    let server = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config)).await?;
    println!("{READY}{address}");
    Ok(start_grpc_service_with_listener(listener, server).await?)
}

/// An executor on the loopback address that runs one task at a time, and keeps its results in `folder`. It returns when a signal stops it.
///
/// Without the functions it is one of another binary, and refuses tasks that call them.
pub async fn executor(scheduler: SocketAddr, folder: &str, has_functions: bool) -> Result<()> {
    create_dir_all(folder).map_err(|error| format!("{folder}: {error}"))?;
    let port = free_port()?;
    let mut config = ExecutorProcessConfig {
        external_host: Some(Ipv4Addr::LOCALHOST.to_string()),
        port,
        // Nobody listens there: it is for tasks that the scheduler hands out. The default may be that of another executor.
        grpc_port: port,
        scheduler_host: scheduler.ip().to_string(),
        scheduler_port: scheduler.port(),
        task_scheduling_policy: POLICY,
        vcores: 1,
        work_dir: Some(folder.to_owned()),
        ..ExecutorProcessConfig::default()
    };
    if has_functions {
        // All functions of a state: this registry takes the place of the executor's own, which has those of Ballista.
        let state = functions::session_state(SessionConfig::new_with_ballista())?;
        config.override_function_registry = Some(Arc::new(BallistaFunctionRegistry::from(&state)));
    }
    tokio::spawn(say_when_ready(config.health.clone(), port));
    Ok(start_executor_process(Arc::new(config)).await?)
}

/// Ballista's executors do not take the port 0, as they tell others the port that they were given.
fn free_port() -> Result<u16> {
    Ok(Listener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

async fn say_when_ready(health: ExecutorHealth, port: u16) {
    while !health.is_ready() {
        sleep(Duration::from_millis(20)).await;
    }
    println!("{READY}{}:{port}", Ipv4Addr::LOCALHOST);
}

/// A session whose queries run on the scheduler's executors, in so many partitions.
pub async fn client(scheduler: SocketAddr, partitions: usize) -> Result<SessionContext> {
    let config = SessionConfig::new_with_ballista().with_target_partitions(partitions);
    let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    let context = SessionContext::remote_with_state(&format!("http://{scheduler}"), state).await?;
    // Only now: the call before this line drops the functions that a state has.
    for function in functions::all() {
        context.register_udf(function);
    }
    Ok(context)
}

/// A session whose queries run in this process.
pub fn local(partitions: usize) -> SessionContext {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
    for function in functions::all() {
        context.register_udf(function);
    }
    context
}
