//! Searching the tools that somebody could call.

use toolshelf_api::{FoundTool, FoundTools, SearchTools};
use toolshelf_core::{FOUND_MAX, QUERIES_MAX, Search, Toolset, search};

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::requests::Asked;

/// How many tools are found unless the request says otherwise.
const LIMIT: usize = 5;
/// The longest query, in characters.
const QUERY_MAX: usize = 500;

impl Service {
    /// The tools that fit, among those that the actor could call.
    pub async fn search_tools(&self, actor: &Actor, asked: SearchTools) -> Result<FoundTools, ServiceError> {
        if asked.queries.is_empty() || asked.queries.len() > QUERIES_MAX {
            return Err(ServiceError::invalid("/queries", format!("Use 1 to {QUERIES_MAX} queries.")));
        }
        if let Some(long) = asked.queries.iter().position(|query| query.chars().count() > QUERY_MAX) {
            let message = format!("Use at most {QUERY_MAX} characters.");
            return Err(ServiceError::invalid(&format!("/queries/{long}"), message));
        }
        let limit = asked.limit.map_or(LIMIT, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        if !(1..=FOUND_MAX).contains(&limit) {
            return Err(ServiceError::invalid("/limit", format!("Use 1 to {FOUND_MAX}.")));
        }
        let snapshot = self.registry().snapshot().load()?;
        let toolset = asked.toolset.map(|name| Toolset::named(&snapshot, &name)).transpose()?;
        let request = self.request(actor, Asked { toolset, ..Asked::default() }).await?;
        let found = search(&snapshot, &request, &Search::read(asked.queries, Vec::new(), limit))?;
        let items = found.tools.into_iter().map(|found| {
            let tool = snapshot.tool(found.index);
            FoundTool {
                name: tool.name().to_string(),
                description: tool.description().to_owned(),
                parameters: tool.parameters().clone(),
                // An exact name fits without measure, which JSON cannot say.
                score: found.score.min(1_000.0),
                already_available: found.already_available,
            }
        });
        Ok(FoundTools { items: items.collect(), unknown: found.unknown })
    }
}
