//! Upstream MCP servers in a snapshot: what they have, and whether they can be reached.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Snapshot;
use crate::availability::{Availability, Unavailable};
use crate::card::NotRegistered;
use crate::tool::Tool;

/// What an upstream MCP server has in a snapshot.
#[derive(Clone, Debug, Default)]
pub struct ServerTools {
    /// Its tools.
    pub tools: Vec<Arc<Tool>>,
    /// Those of its list that did not enter the registry.
    pub rejected: Vec<NotRegistered>,
    /// Why it cannot be reached, if it cannot.
    pub down: Option<Arc<str>>,
}

impl Snapshot {
    /// This snapshot with what servers have now, in place of all that these servers had. A tool whose name another source has
    /// already does not enter the registry, whoever came first.
    #[must_use]
    pub fn with_servers(&self, now: impl IntoIterator<Item = (Arc<str>, ServerTools)>) -> Self {
        let now: Vec<(Arc<str>, ServerTools)> = now.into_iter().collect();
        let is_replaced = |tool: &Tool| {
            tool.source().server().is_some_and(|own| now.iter().any(|(name, _)| **name == *own))
        };
        let mut tools: Vec<Arc<Tool>> =
            self.tools.iter().filter(|tool| !is_replaced(tool)).cloned().collect();
        let mut taken: HashSet<Arc<str>> = tools.iter().map(|tool| Arc::clone(tool.name())).collect();
        let mut next = self.clone();
        let rejected = Arc::make_mut(&mut next.rejected);
        let mut down = Vec::with_capacity(now.len());
        for (server, has) in now {
            let mut refused = has.rejected;
            for tool in has.tools {
                if taken.insert(Arc::clone(tool.name())) {
                    tools.push(tool);
                } else {
                    let reason = "Another tool has this name already.".into();
                    refused.push(NotRegistered { name: Arc::clone(tool.name()), reason });
                }
            }
            if refused.is_empty() {
                rejected.remove(&server);
            } else {
                rejected.insert(Arc::clone(&server), refused);
            }
            down.push((server, has.down));
        }
        let mut not_registered: Vec<NotRegistered> =
            next.declared.iter().chain(next.rejected.values().flatten()).cloned().collect();
        not_registered.sort_by(|a, b| a.name.cmp(&b.name));
        next.not_registered = not_registered.into();
        // The names differ, as was just seen to.
        let next = next.with_tools(tools).unwrap_or(next);
        next.with_servers_down(down)
    }

    /// This snapshot with servers that can be reached, or cannot and why.
    #[must_use]
    pub fn with_servers_down(&self, servers: Vec<(Arc<str>, Option<Arc<str>>)>) -> Self {
        let now: HashMap<Arc<str>, Availability> = servers
            .into_iter()
            .map(|(server, down)| (server, Availability::of(down.map(Unavailable::Upstream))))
            .collect();
        let mut next = self.clone();
        next.availability = self
            .indexes()
            .map(|index| {
                let now = self.tool(index).source().server().and_then(|server| now.get(server));
                now.unwrap_or_else(|| self.availability(index)).clone()
            })
            .collect();
        next
    }
}
