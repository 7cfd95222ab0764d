//! Which paths are served, what is spoken there, and whose server it looks like.

use mica_ai::Dialect;
use serde_json::{Value, json};

/// Whose server an address looks like. Decides the shape of errors and some extra fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vendor {
    /// Azure AI Foundry's OpenAI paths.
    Azure,
    /// OpenAI's own, and what imitates it.
    OpenAi,
    /// Claude, at its maker's or on Foundry.
    Anthropic,
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// A model is asked.
    Ask {
        /// The wire.
        dialect: Dialect,
        /// Whose server.
        vendor: Vendor,
        /// The deployment, when the path names it.
        deployment: Option<String>,
    },
    /// The list of models.
    Models {
        /// Whose server.
        vendor: Vendor,
    },
    /// Nothing is there.
    Unknown {
        /// Whose server it would be.
        vendor: Vendor,
    },
}

impl Route {
    /// Where a method and path lead.
    pub fn find(method: &str, path: &str) -> Self {
        let vendor = if path.starts_with("/anthropic/") || path.starts_with("/v1/messages") {
            Vendor::Anthropic
        } else if path.starts_with("/openai/") {
            Vendor::Azure
        } else {
            Vendor::OpenAi
        };
        let ask = |dialect| Route::Ask { dialect, vendor, deployment: None };
        match (method, path) {
            ("POST", "/openai/v1/responses" | "/openai/responses" | "/v1/responses") => {
                ask(Dialect::Responses)
            }
            ("POST", "/openai/v1/chat/completions" | "/v1/chat/completions") => ask(Dialect::Chat),
            ("POST", "/v1/messages" | "/anthropic/v1/messages") => ask(Dialect::Messages),
            ("GET", "/v1/models" | "/openai/v1/models") => Route::Models { vendor },
            ("POST", _) => path
                .strip_prefix("/openai/deployments/")
                .and_then(|rest| rest.strip_suffix("/chat/completions"))
                .filter(|name| !name.is_empty() && !name.contains('/'))
                .map_or(Route::Unknown { vendor }, |name| Route::Ask {
                    dialect: Dialect::Chat,
                    vendor,
                    deployment: Some(name.to_owned()),
                }),
            _ => Route::Unknown { vendor },
        }
    }

    /// Whose server this is.
    pub fn vendor(&self) -> Vendor {
        match self {
            Route::Ask { vendor, .. } | Route::Models { vendor } | Route::Unknown { vendor } => *vendor,
        }
    }

    /// The dialect spoken there, if a model is asked.
    pub fn dialect(&self) -> Option<Dialect> {
        match self {
            Route::Ask { dialect, .. } => Some(*dialect),
            Route::Models { .. } | Route::Unknown { .. } => None,
        }
    }
}

impl Vendor {
    /// An error in the shape this vendor gives it.
    pub fn error(self, status: u16, code: &str, message: &str, param: Option<&str>) -> Value {
        match self {
            Vendor::Anthropic => {
                let kind = match status {
                    401 => "authentication_error",
                    403 => "permission_error",
                    404 => "not_found_error",
                    413 => "request_too_large",
                    429 => "rate_limit_error",
                    529 => "overloaded_error",
                    400..=499 => "invalid_request_error",
                    _ => "api_error",
                };
                json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_011CScripted" })
            }
            Vendor::Azure if status == 401 || status == 404 => {
                json!({ "error": { "code": status.to_string(), "message": message } })
            }
            Vendor::Azure | Vendor::OpenAi => json!({
                "error": { "message": message, "type": "invalid_request_error", "param": param, "code": code },
            }),
        }
    }

    /// What is said when nothing is at an address.
    pub fn not_found(self, method: &str, path: &str) -> Value {
        match self {
            Vendor::Azure => self.error(404, "404", "Resource not found", None),
            Vendor::OpenAi => json!({
                "error": {
                    "message": format!("Invalid URL ({method} {path})"),
                    "type": "invalid_request_error", "param": null, "code": null,
                },
            }),
            Vendor::Anthropic => self.error(404, "", "Not Found", None),
        }
    }

    /// What is said when the key is missing or wrong.
    pub fn unauthorized(self) -> Value {
        match self {
            Vendor::Azure => self.error(
                401,
                "401",
                "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key \
                 for an active subscription and use a correct regional API endpoint for your resource.",
                None,
            ),
            Vendor::OpenAi => json!({
                "error": {
                    "message": "Incorrect API key provided. You can find your API key in your account settings.",
                    "type": "invalid_request_error", "param": null, "code": "invalid_api_key",
                },
            }),
            Vendor::Anthropic => self.error(401, "", "invalid x-api-key", None),
        }
    }

    /// The list of models.
    pub fn models(self, names: &[&str]) -> Value {
        match self {
            Vendor::Anthropic => json!({
                "data": names.iter().map(|name| json!({ "type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z" })).collect::<Vec<_>>(),
                "has_more": false, "first_id": names.first(), "last_id": names.last(),
            }),
            Vendor::Azure | Vendor::OpenAi => json!({
                "object": "list",
                "data": names.iter().map(|name| json!({ "id": name, "object": "model", "created": crate::wire::CREATED, "owned_by": "scripted" })).collect::<Vec<_>>(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, path: &str, dialect: Option<Dialect>, vendor: Vendor) {
        let route = Route::find(method, path);
        assert_eq!((route.dialect(), route.vendor()), (dialect, vendor), "{method} {path}");
    }

    #[test]
    fn every_served_path_has_its_dialect_and_vendor() {
        check("POST", "/openai/v1/responses", Some(Dialect::Responses), Vendor::Azure);
        check("POST", "/openai/responses", Some(Dialect::Responses), Vendor::Azure);
        check("POST", "/v1/responses", Some(Dialect::Responses), Vendor::OpenAi);
        check("POST", "/openai/v1/chat/completions", Some(Dialect::Chat), Vendor::Azure);
        check("POST", "/openai/deployments/gpt/chat/completions", Some(Dialect::Chat), Vendor::Azure);
        check("POST", "/v1/chat/completions", Some(Dialect::Chat), Vendor::OpenAi);
        check("POST", "/v1/messages", Some(Dialect::Messages), Vendor::Anthropic);
        check("POST", "/anthropic/v1/messages", Some(Dialect::Messages), Vendor::Anthropic);
        check("GET", "/v1/messages", None, Vendor::Anthropic);
        check("POST", "/openai/deployments//chat/completions", None, Vendor::Azure);
        assert_eq!(Route::find("GET", "/v1/models"), Route::Models { vendor: Vendor::OpenAi });
    }
}
