//! The calls about profiles.

use toolshelf_api::{
    ActiveProfile, CloneProfile, CreateProfile, EditProfileTools, Page, Profile, ProfileVersion,
    RestoreProfile, StartProfile, StartsWith, UpdateProfile,
};

use super::http::{Parts, Reply, send, send_empty};
use super::tools::Api;

/// The path of a profile, whose name may hold anything.
fn path(name: &str) -> String {
    let name: String = js_sys::encode_uri_component(name).into();
    format!("/profiles/{name}")
}

impl Api {
    /// Every profile, `default` first.
    pub(crate) async fn profiles(&self) -> Reply<Page<Profile>> {
        send("/profiles?limit=500", Parts { method: "GET", ..Parts::default() }).await
    }

    /// One profile by its name, or by one that it had before.
    pub(crate) async fn profile(&self, name: &str) -> Reply<Profile> {
        send(&path(name), Parts { method: "GET", ..Parts::default() }).await
    }

    /// Makes a profile.
    pub(crate) async fn create_profile(&self, new: &CreateProfile) -> Reply<Profile> {
        send("/profiles", self.write("POST", new)).await
    }

    /// Copies a profile.
    pub(crate) async fn clone_profile(&self, name: &str, copy: String) -> Reply<Profile> {
        send(&format!("{}/clone", path(name)), self.write("POST", &CloneProfile { name: copy })).await
    }

    /// Changes a profile's fields, if it is still at this revision.
    pub(crate) async fn update_profile(&self, profile: &Profile, change: &UpdateProfile) -> Reply<Profile> {
        let parts = Parts { revision: Some(profile.revision), ..self.write("PATCH", change) };
        send(&path(&profile.name), parts).await
    }

    /// Adds and removes tools. Such edits commute, so they need no revision.
    pub(crate) async fn edit_profile(&self, name: &str, edit: &EditProfileTools) -> Reply<Profile> {
        send(&format!("{}/tools", path(name)), self.write("POST", edit)).await
    }

    /// Deletes a profile; whoever uses it gets the replacement.
    pub(crate) async fn delete_profile(&self, profile: &Profile, replacement: &str) -> Reply<()> {
        let mut path = path(&profile.name);
        if !replacement.is_empty() {
            let replacement: String = js_sys::encode_uri_component(replacement).into();
            path = format!("{path}?replacement={replacement}");
        }
        send_empty(&path, self.bare("DELETE", Some(profile.revision))).await
    }

    /// The workspace's active toolset.
    pub(crate) async fn active(&self) -> Reply<ActiveProfile> {
        send("/active-profile", Parts { method: "GET", ..Parts::default() }).await
    }

    /// Sets what everybody's new conversations start with.
    pub(crate) async fn set_active(&self, name: String) -> Reply<ActiveProfile> {
        send("/active-profile", self.write("PUT", &ActiveProfile { name })).await
    }

    /// Sets what the user's own new conversations start with; none leaves it to the workspace.
    pub(crate) async fn set_start(&self, name: Option<String>) -> Reply<StartsWith> {
        send("/start-profile", self.write("PUT", &StartProfile { name })).await
    }

    /// The latest revisions of a profile, newest first.
    pub(crate) async fn profile_history(&self, name: &str) -> Reply<Page<ProfileVersion>> {
        send(&format!("{}/history", path(name)), Parts { method: "GET", ..Parts::default() }).await
    }

    /// Makes a profile as it was at a revision.
    pub(crate) async fn restore_profile(&self, name: &str, revision: u64) -> Reply<Profile> {
        send(&format!("{}/restore", path(name)), self.write("POST", &RestoreProfile { revision })).await
    }
}
