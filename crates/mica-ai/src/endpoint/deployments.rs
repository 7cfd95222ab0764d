//! What models are deployed as: on Azure a request names the deployment, not the model.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::error::EndpointError;
use crate::catalogue::normal;

/// From models to deployments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeploymentMap {
    by_model: BTreeMap<String, String>,
}

impl DeploymentMap {
    /// Reads a comma-separated list of `model=deployment`. Spaces around the parts and a comma at the end are fine.
    /// `setting` is what errors call the list.
    ///
    /// # Errors
    /// When an item is not of that form, or a model is there twice with different deployments.
    pub fn parse(setting: &str, text: &str) -> Result<DeploymentMap, EndpointError> {
        let mut map = DeploymentMap::default();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let wrong = |problem: &str| EndpointError::Deployment {
                setting: setting.to_owned(),
                item: item.to_owned(),
                problem: problem.to_owned(),
            };
            let (model, deployment) = item.split_once('=').ok_or_else(|| wrong("there is no ="))?;
            map.insert(model.trim(), deployment.trim()).map_err(|problem| wrong(&problem))?;
        }
        Ok(map)
    }

    /// The same from a table.
    ///
    /// # Errors
    /// As [`DeploymentMap::parse`].
    pub fn from_table(
        setting: &str,
        table: &BTreeMap<String, String>,
    ) -> Result<DeploymentMap, EndpointError> {
        let mut map = DeploymentMap::default();
        for (model, deployment) in table {
            map.insert(model.trim(), deployment.trim()).map_err(|problem| EndpointError::Deployment {
                setting: setting.to_owned(),
                item: format!("{model}={deployment}"),
                problem,
            })?;
        }
        Ok(map)
    }

    /// The deployment of a model, in any spelling of its name.
    pub fn deployment(&self, model: &str) -> Option<&str> {
        let form = normal(model);
        self.by_model.iter().find(|(name, _)| normal(name) == form).map(|(_, deployment)| deployment.as_str())
    }

    /// The model that a deployment is of, so that either name may be asked for.
    pub fn model(&self, deployment: &str) -> Option<&str> {
        self.by_model
            .iter()
            .find(|(_, name)| name.eq_ignore_ascii_case(deployment))
            .map(|(model, _)| model.as_str())
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.by_model.is_empty()
    }

    fn insert(&mut self, model: &str, deployment: &str) -> Result<(), String> {
        if model.is_empty() {
            return Err("the model is missing".into());
        }
        if deployment.is_empty() {
            return Err("the deployment is missing".into());
        }
        if deployment.contains('=') {
            return Err("there is more than one =".into());
        }
        if [model, deployment].iter().any(|part| part.chars().any(char::is_whitespace)) {
            return Err("names have no spaces".into());
        }
        if self.deployment(model).is_some_and(|other| other != deployment) {
            return Err(format!("{model} has another deployment already"));
        }
        self.by_model.insert(model.to_owned(), deployment.to_owned());
        Ok(())
    }
}
