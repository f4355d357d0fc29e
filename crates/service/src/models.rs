//! The models that can answer.

use toolshelf_core::ModelLimits;

use crate::Service;
use crate::error::ServiceError;

/// The model that works without any key.
pub(crate) const DEFAULT_MODEL: &str = "console";

impl Service {
    /// How much a model takes.
    #[expect(clippy::unused_self, reason = "the models come from the configuration next")]
    pub(crate) fn model_limits(&self, model: &str) -> Result<ModelLimits, ServiceError> {
        if model == DEFAULT_MODEL {
            Ok(ModelLimits::default())
        } else {
            Err(ServiceError::invalid("/model", format!("There is no model named {model:?}.")))
        }
    }
}
