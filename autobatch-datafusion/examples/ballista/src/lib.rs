//! Batched functions as functions of SQL on a cluster: a scheduler and executors of [Ballista](https://datafusion.apache.org/ballista) that know
//! them, and a client that calls them.
//!
//! A plan carries only the name of a function. So the scheduler, the executors and the client are one binary, and each of them registers the same
//! functions ([`functions`]). [`roles`] is what they do, [`cluster`] starts them as processes of this machine, and [`samples`] is the table.

use std::error::Error;
use std::time::Duration;

use tokio::time::timeout;

pub mod cluster;
pub mod functions;
pub mod roles;
pub mod samples;

/// A result with any error.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The result of something that may take a while, or an error after `seconds`.
pub async fn within<T, E>(seconds: u64, waiting: impl Future<Output = std::result::Result<T, E>>) -> Result<T>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    match timeout(Duration::from_secs(seconds), waiting).await {
        Ok(result) => result.map_err(Into::into),
        Err(_) => Err(format!("no answer after {seconds} seconds").into()),
    }
}
