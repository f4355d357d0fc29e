//! The models that can answer.

use std::sync::Arc;

use toolshelf_api::Page;
use toolshelf_core::{ModelLimits, closest};
use toolshelf_runtime::Model;

use crate::Service;
use crate::error::ServiceError;

/// The model that works without any key.
pub(crate) const DEFAULT_MODEL: &str = "console";

impl Service {
    /// Every model.
    pub fn list_models(&self) -> Page<toolshelf_api::Model> {
        let items: Vec<toolshelf_api::Model> = self
            .inner
            .models
            .iter()
            .map(|model| {
                let info = model.info();
                toolshelf_api::Model {
                    name: info.name.clone(),
                    title: info.title.clone(),
                    description: info.description.clone(),
                    max_tools: info.limits.max_tools,
                    context_window: info.limits.context_window,
                }
            })
            .collect();
        Page { total: items.len() as u64, items, next_cursor: None }
    }

    pub(crate) fn model(&self, name: &str) -> Result<Arc<dyn Model>, ServiceError> {
        let models = &self.inner.models;
        models.iter().find(|model| model.info().name == name).cloned().ok_or_else(|| {
            let close = closest(name, models.iter().map(|model| model.info().name.as_str()));
            let hint =
                if close.is_empty() { String::new() } else { format!(" Did you mean {}?", close.join(", ")) };
            ServiceError::invalid("/model", format!("There is no model named {name:?}.{hint}"))
        })
    }

    /// How much a model takes.
    pub(crate) fn model_limits(&self, name: &str) -> Result<ModelLimits, ServiceError> {
        Ok(self.model(name)?.info().limits)
    }
}
