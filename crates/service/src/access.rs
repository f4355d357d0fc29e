//! Who may do what, as data.
//!
//! Every route of the server names one [`Access`]; [`Access::check`] is the only place that decides. A key's rights
//! are its scopes, cut by its owner's role now.

use toolshelf_api::KeyScope;
use toolshelf_core::Role;

/// What a route asks of whoever uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone.
    Public,
    /// Any user or key.
    SignedIn,
    /// A user in a browser session; no key, whatever its scopes.
    Session,
    /// A user, or a key with this scope.
    Scope(KeyScope),
    /// An admin in a browser session; no key, whatever its scopes.
    AdminSession,
    /// An admin, or an admin's key with scope `admin`.
    Admin,
    /// A user in a browser session, or a key with scope `admin`.
    SessionOrAdminKey,
}

/// What counts about whoever asks.
#[derive(Clone, Copy, Debug)]
pub enum Standing<'a> {
    /// Nobody is known.
    Anonymous,
    /// A user in a browser session.
    Session(Role),
    /// A key with these scopes, whose owner has this role now.
    Key(Role, &'a [KeyScope]),
}

/// Why access is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// Nobody is known.
    SignIn,
    /// The role does not allow it.
    AdminsOnly,
    /// The key lacks a scope.
    MissingScope(KeyScope),
    /// No key may do this.
    SessionOnly,
    /// Only the owner of the thing, or an admin.
    OwnersOnly,
    /// It would let other people's conversations and keys do more.
    UsedByOthers,
    /// A key may not change what it is cut to.
    OwnPin,
    /// The password was entered too long ago for this.
    ConfirmPassword,
    /// The configuration does not let keys say which programs run on this machine.
    KeysMayNotAdd,
}

impl Denied {
    /// A stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::SignIn => "unauthenticated",
            Self::AdminsOnly => "admins_only",
            Self::MissingScope(_) => "missing_scope",
            Self::SessionOnly => "session_only",
            Self::OwnersOnly => "owners_only",
            Self::UsedByOthers => "used_by_others",
            Self::OwnPin => "own_pin",
            Self::ConfirmPassword => "confirm_password",
            Self::KeysMayNotAdd => "keys_may_not_add",
        }
    }

    /// A sentence that a person can act on.
    pub fn detail(self) -> String {
        match self {
            Self::SignIn => "Sign in, or send an API key as a bearer token.".to_owned(),
            Self::AdminsOnly => "Only admins may do this. Ask an admin of this installation.".to_owned(),
            Self::MissingScope(scope) => {
                format!("The API key lacks the scope {}. Make a key that has it.", scope.as_str())
            }
            Self::OwnersOnly => {
                "Only its owner or an admin may change this. Clone it to have one of your own.".to_owned()
            }
            Self::OwnPin => {
                "An API key may not change the profile that it is pinned to. Use another key, or the browser."
                    .to_owned()
            }
            Self::UsedByOthers => {
                "Other people's conversations or API keys use this profile, so only an admin may add tools to it. Clone it to have one of your own.".to_owned()
            }
            Self::ConfirmPassword => {
                "A program would run on the server's machine. Enter your password again first.".to_owned()
            }
            Self::KeysMayNotAdd => {
                "A program would run on the server's machine, and keys may not say which. Use the browser, or set keys_may_add = true under [upstreams] in the configuration."
                    .to_owned()
            }
            Self::SessionOnly => "API keys may not do this. Sign in with a browser.".to_owned(),
        }
    }
}

impl Access {
    /// Decides whether somebody of this standing gets access.
    pub fn check(self, standing: Standing<'_>) -> Result<(), Denied> {
        let admin = |role: Role| if role == Role::Admin { Ok(()) } else { Err(Denied::AdminsOnly) };
        let scope = |scopes: &[KeyScope], scope: KeyScope| {
            if scopes.contains(&scope) { Ok(()) } else { Err(Denied::MissingScope(scope)) }
        };
        match (self, standing) {
            (Self::Public, _) => Ok(()),
            (_, Standing::Anonymous) => Err(Denied::SignIn),
            (Self::SignedIn, _)
            | (Self::Session | Self::Scope(_) | Self::SessionOrAdminKey, Standing::Session(_)) => Ok(()),
            (Self::Admin | Self::AdminSession, Standing::Session(role)) => admin(role),
            (Self::Session | Self::AdminSession, Standing::Key(..)) => Err(Denied::SessionOnly),
            (Self::Scope(wanted), Standing::Key(_, scopes)) => scope(scopes, wanted),
            (Self::Admin | Self::SessionOrAdminKey, Standing::Key(role, scopes)) => {
                admin(role).and_then(|()| scope(scopes, KeyScope::Admin))
            }
        }
    }
}
