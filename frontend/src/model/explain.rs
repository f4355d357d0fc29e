//! What a verdict says, as a page about one tool shows it.

use toolshelf_api::explain::{cause_sentence, fix_sentence, layer_title, sentence};
use toolshelf_api::{By, ByKind, Layer, Outcome, Verdict};

/// One reason for which a tool is not simply offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The layer that gives it.
    pub layer: Layer,
    /// What was decided and why.
    pub text: String,
    /// Who or what decided.
    pub who: String,
    /// How to change it, and who can.
    pub fix: Option<String>,
}

/// Every reason of a verdict, the one that owns it first: following one fix must not end in a surprise.
pub fn reasons(verdict: &Verdict) -> Vec<Reason> {
    let own = verdict.layer.map(|layer| Reason {
        layer,
        text: sentence(verdict),
        who: verdict.by.as_ref().map(who).unwrap_or_default(),
        fix: verdict.fix.as_ref().map(fix_sentence),
    });
    let also = verdict.also.iter().map(|cause| Reason {
        layer: cause.layer,
        text: cause_sentence(cause.code, Some(&cause.by), cause.reason.as_deref()),
        who: who(&cause.by),
        fix: Some(fix_sentence(&cause.fix)),
    });
    own.into_iter().chain(also).collect()
}

/// Who or what decided, for people.
pub fn who(by: &By) -> String {
    let name = &by.name;
    match by.kind {
        ByKind::Author => "its author".to_owned(),
        ByKind::Toolset => format!("the toolset {name}"),
        ByKind::Conversation => "this conversation".to_owned(),
        ByKind::Turn => "the message".to_owned(),
        ByKind::Key => format!("the API key {name}"),
        ByKind::Channel => format!("the channel {name}"),
        ByKind::Server => format!("the server {name}"),
        ByKind::System => "the state of this installation".to_owned(),
        ByKind::Admin => format!("{name}, an admin"),
        ByKind::Caller => "whoever asks".to_owned(),
    }
}

/// What became of a tool, and which further layers would have it so.
pub fn outcome(verdict: &Verdict) -> String {
    let mut others: Vec<&str> = verdict.also.iter().map(|cause| layer_title(cause.layer)).collect();
    others.dedup();
    let mut text = sentence(verdict);
    if !others.is_empty() {
        // A reason that somebody wrote may end without a full stop.
        if !text.ends_with(['.', '!', '?', '。']) {
            text.push('.');
        }
        text.push_str(" Even without that, it would not get past ");
        text.push_str(&others.join(" and "));
        text.push('.');
    }
    text
}

/// How many tools are offered, deferred and removed.
pub fn outcomes(verdicts: &[Verdict]) -> [usize; 3] {
    let mut counts = [0; 3];
    for verdict in verdicts {
        counts[match verdict.outcome {
            Outcome::Offered => 0,
            Outcome::Deferred => 1,
            Outcome::Removed => 2,
        }] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolshelf_api::{Layer, Verdict};

    use super::{outcome, outcomes, reasons};

    #[test]
    fn every_cause_is_told_with_who_and_what_to_do() {
        let verdict: Verdict = serde_json::from_value(json!({
            "tool": "bash", "outcome": "removed", "layer": "L4", "code": "check_failed",
            "by": {"kind": "system", "name": "check"}, "reason": "no sandbox",
            "fix": {"action": "mend_check", "target": "bash", "who": "admin"},
            "also": [{"layer": "L5", "code": "globally_disabled", "by": {"kind": "admin", "name": "ann"},
                      "reason": "Unsafe", "fix": {"action": "enable", "target": "bash", "who": "admin"}}]
        }))
        .unwrap();
        let reasons = reasons(&verdict);
        assert_eq!(reasons.iter().map(|reason| reason.layer).collect::<Vec<_>>(), [Layer::L4, Layer::L5]);
        assert_eq!(reasons[0].text, "It cannot run now: no sandbox");
        assert_eq!(reasons[1].who, "ann, an admin");
        assert_eq!(reasons[1].fix.as_deref(), Some("An admin can enable bash again."));
        assert_eq!(
            outcome(&verdict),
            "It cannot run now: no sandbox. Even without that, it would not get past Veto."
        );
        assert_eq!(outcomes(&[verdict.clone(), verdict]), [0, 0, 2]);
    }

    #[test]
    fn what_is_offered_needs_no_reason() {
        let verdict: Verdict = serde_json::from_value(json!({
            "tool": "grep", "outcome": "offered", "layer": null, "code": "offered", "by": null, "reason": null,
            "fix": null, "also": []
        }))
        .unwrap();
        assert_eq!(reasons(&verdict), []);
        assert_eq!(outcome(&verdict), "Every layer lets it through, so its schema is sent.");
    }
}
