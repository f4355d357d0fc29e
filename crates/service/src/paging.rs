//! Pages of lists that are short enough to read whole.

use toolshelf_api::Page;

use crate::error::ServiceError;

/// The page after `cursor`, which is the id of the last item of the page before.
pub(crate) fn page<T>(
    items: Vec<T>,
    id: impl Fn(&T) -> &str,
    cursor: Option<&str>,
    limit: usize,
) -> Result<Page<T>, ServiceError> {
    let total = items.len() as u64;
    let start = match cursor {
        None => 0,
        Some(cursor) => match items.iter().position(|item| id(item) == cursor) {
            Some(position) => position + 1,
            None => return Err(ServiceError::invalid("cursor", "This is no cursor of this list.")),
        },
    };
    let more = items.len() - start > limit;
    let items: Vec<T> = items.into_iter().skip(start).take(limit).collect();
    let next_cursor = items.last().filter(|_| more).map(|item| id(item).to_owned());
    Ok(Page { items, next_cursor, total })
}
