//! The browser app's shell, with what its first paint needs.

use askama::Template;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use toolshelf_core::Role;

use super::{PageContext, html};
use crate::http::{ApiError, Maybe, SignedInUser};
use crate::state::AppState;

#[derive(Template)]
#[template(path = "shell.html")]
struct Shell {
    page: PageContext,
    boot: String,
}

/// The app.
pub(crate) async fn app(
    State(state): State<AppState>,
    SignedInUser(actor): SignedInUser,
    uri: Uri,
) -> Result<Response, ApiError> {
    let page = PageContext::new(&state, uri.path(), Some(&actor));
    let mut boot = state.service.boot(&actor, page.version).await?;
    let (workspaces, user_id) = (state.workspaces.clone(), boot.me.id.clone());
    // A workspace that cannot be made is no reason to show nothing: the file functions say so themselves (L4).
    let prepared = tokio::task::spawn_blocking(move || workspaces.prepare(&user_id)).await;
    if let (Ok(Ok(path)), Role::Admin) = (prepared, boot.me.role) {
        boot.workspace = Some(path.display().to_string());
    }
    let boot = serde_json::to_string(&boot)
        .map_err(|error| ApiError::internal(format!("the boot document cannot be written: {error}")))?;
    let nonce = page.nonce.clone();
    html(StatusCode::OK, &nonce, &Shell { page, boot: escape_for_script(&boot) })
}

/// `/` leads to where somebody can do something.
pub(crate) async fn front_door(
    State(state): State<AppState>,
    Maybe(actor): Maybe,
) -> Result<Response, ApiError> {
    let to = if actor.is_some() {
        "/functions"
    } else if state.service.needs_setup().await? {
        "/setup"
    } else {
        "/login"
    };
    Ok(Redirect::to(to).into_response())
}

/// JSON that cannot end the script element which holds it, whatever a tool's description says.
fn escape_for_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::escape_for_script;

    #[test]
    fn no_description_ends_the_script_element() {
        let json = serde_json::to_string("</script><!--<script>&amp;").unwrap();
        let escaped = escape_for_script(&json);
        assert!(!escaped.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), "</script><!--<script>&amp;");
    }
}
