//! The chat: the list of conversations, what was said, and the composer.

mod composer;
mod list;
mod picker;
mod stream;

pub(crate) use composer::Composer;
pub(crate) use list::TalkList;
pub(crate) use stream::Stream;
