//! What every adapter of the store port must do, written against the port alone.
//!
//! An adapter stamps the suite with [`stamp`], giving an async function that makes an empty store and keeps it
//! alive. A test that is not listed here is dead code, which the compiler reports.

pub(crate) mod accounts;
pub(crate) mod api_keys;
pub(crate) mod audit;
pub(crate) mod conversations;
pub(crate) mod mcp_servers;
pub(crate) mod profiles;
pub(crate) mod runs;
pub(crate) mod samples;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod setup_tokens;
pub(crate) mod tool_states;
pub(crate) mod transactions;

use std::sync::Arc;

use toolshelf_runtime::store::Store;

/// An empty store, and what must live as long as it.
pub(crate) struct Fresh<G> {
    /// The store.
    pub(crate) store: Arc<dyn Store>,
    /// Whatever removes the database when it is dropped.
    pub(crate) _guard: G,
}

/// Makes one test for each function of the suite.
macro_rules! stamp {
    ($fresh:path) => {
        $crate::conformance::stamp! { @areas $fresh;
            accounts: {
                users_are_kept_as_they_were_given,
                a_name_is_taken_in_every_letter_case,
                users_are_listed_by_name,
                an_update_replaces_what_may_change,
                a_stale_revision_changes_nothing,
                active_admins_are_counted,
            }
            sessions: {
                a_session_is_found_with_its_user,
                sessions_end_one_by_one_or_all,
                expired_sessions_are_forgotten,
                a_session_needs_its_user,
            }
            api_keys: {
                keys_are_kept_as_they_were_given,
                keys_are_listed_newest_first,
                a_key_is_revoked_once,
                keys_of_one_pin_are_pinned_to_another,
                a_token_belongs_to_one_key,
            }
            setup_tokens: {
                a_new_token_replaces_the_old,
                of_many_at_once_one_takes_the_token,
            }
            tool_states: {
                states_are_kept_as_they_were_given,
                states_are_listed_by_name,
            }
            audit: {
                entries_are_paged_newest_first,
            }
            settings: {
                the_active_toolset_is_one_and_changes,
                each_user_starts_with_their_own,
            }
            conversations: {
                conversations_are_kept_as_they_were_given,
                conversations_are_paged_newest_first,
                conversations_are_found_by_title_in_any_letter_case,
                a_conversation_changes_from_the_revision_that_is_stored,
                uses_of_a_profile_are_counted_once_and_re_pointed_together,
                todos_are_numbered_in_their_conversation,
                many_at_once_number_without_gaps,
                deleting_a_conversation_takes_its_todos,
                todos_need_their_conversation,
            }
            profiles: {
                profiles_are_kept_as_they_were_given,
                a_name_is_taken_in_every_letter_case,
                a_profile_needs_its_own_id_and_its_owner,
                an_update_replaces_what_may_change,
                a_stale_revision_changes_nothing,
                an_update_to_a_taken_name_changes_nothing,
                of_many_at_once_one_takes_the_name,
                versions_are_kept_as_they_were_given,
                versions_are_paged_newest_first,
                a_version_replaces_the_one_of_its_revision,
                a_version_needs_its_profile,
                deleting_a_profile_takes_its_history,
                a_retired_name_is_replaced_in_every_letter_case,
                tools_keep_the_number_of_their_first_sighting,
                sightings_at_once_get_numbers_without_gaps,
            }
            runs: {
                runs_are_kept_as_they_were_given,
                one_run_goes_on_in_a_conversation,
                of_many_at_once_one_begins_a_run,
                parts_are_kept_and_replaced_by_number,
                messages_are_numbered_and_paged_newest_first,
                a_model_is_told_the_answers_of_runs_that_are_done,
                calls_and_runs_are_found_by_messages,
                deleting_a_conversation_takes_its_runs_and_messages,
            }
            mcp_servers: {
                servers_are_kept_as_they_were_given,
                a_servers_name_is_taken_once,
                a_server_changes_from_the_revision_that_is_stored,
                what_is_known_of_tools_outlives_their_server,
                a_tool_without_any_definition_is_refused,
                loaded_tools_keep_their_order_and_go_with_their_conversation,
                a_session_is_confirmed_and_no_other,
            }
            transactions: {
                what_is_dropped_is_rolled_back,
                what_is_committed_is_seen,
                a_reader_sees_one_state_and_does_not_wait,
                a_reader_does_not_write,
                writers_wait_for_each_other,
                concurrent_writers_lose_no_update,
                a_writer_that_gives_up_waiting_leaves_no_trace,
                a_taken_name_leaves_the_unit_usable,
                a_failed_statement_spoils_the_unit,
                times_keep_microseconds,
            }
        }
    };
    (@areas $fresh:path; $($area:ident: { $($test:ident,)+ })+) => {
        $(mod $area {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let fresh = $fresh().await;
                $crate::conformance::$area::$test(fresh.store.clone()).await;
            })+
        })+
    };
}

pub(crate) use stamp;
