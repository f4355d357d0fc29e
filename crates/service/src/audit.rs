//! The audit log.

use chrono::{DateTime, Utc};
use toolshelf_api::{AuditEntry, Page};
use toolshelf_runtime::store::NewAudit;

use crate::Service;
use crate::authenticator::Actor;
use crate::error::ServiceError;
use crate::times::rfc3339;

/// An entry for what somebody did.
pub(crate) fn by_actor(
    actor: &Actor,
    at: DateTime<Utc>,
    action: &'static str,
    target: &str,
    detail: impl Into<String>,
) -> NewAudit {
    NewAudit {
        at,
        actor: Some(actor.username().to_owned()),
        key: actor.key_name().map(str::to_owned),
        action,
        target: target.to_owned(),
        detail: detail.into(),
    }
}

/// An entry for what the system did.
pub(crate) fn by_system(
    at: DateTime<Utc>,
    action: &'static str,
    target: &str,
    detail: impl Into<String>,
) -> NewAudit {
    NewAudit { at, actor: None, key: None, action, target: target.to_owned(), detail: detail.into() }
}

impl Service {
    /// One page of the audit log, newest first. The cursor is the id of the last entry of the page before.
    pub async fn list_audit(
        &self,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Page<AuditEntry>, ServiceError> {
        let before = match cursor {
            None => None,
            Some(cursor) => Some(
                cursor
                    .parse::<i64>()
                    .map_err(|_| ServiceError::invalid("cursor", "This is no cursor of this list."))?,
            ),
        };
        let mut unit = self.store().read().await?;
        let mut rows = unit.list_audit(before, limit + 1).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next_cursor = rows.last().filter(|_| more).map(|row| row.id.to_string());
        let items = rows
            .into_iter()
            .map(|row| AuditEntry {
                id: row.id,
                at: rfc3339(row.at),
                actor: row.actor,
                key: row.key,
                action: row.action,
                target: row.target,
                detail: row.detail,
            })
            .collect();
        Ok(Page { items, next_cursor, total: unit.count_audit().await? })
    }
}
