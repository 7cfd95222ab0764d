//! What the codes and types of errors mean. Compared without regard to case.

/// What an error means to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Wait.
    RateLimited,
    /// Wait; it is their side.
    Overloaded,
    /// Shorten.
    Overflow,
    /// A filter struck.
    Filtered,
    /// Sign in, or get access.
    Auth,
    /// Correct the name.
    NotFound,
    /// Send without the old reasoning.
    Stale,
    /// Pay.
    Billing,
    /// Correct the request.
    BadRequest,
}

/// The meaning of a code, when it has one. Types that only say which side is at fault mean little: see
/// [`is_vague`].
pub(super) fn meaning(code: &str) -> Option<Meaning> {
    TABLE.iter().find(|(known, _)| known.eq_ignore_ascii_case(code)).map(|(_, meaning)| *meaning)
}

/// Whether a meaning taken from a code may be overruled by what the text says: servers that know no better report
/// a prompt that is too long as a bad request or as a failure of their own.
pub(super) fn is_vague(meaning: Option<Meaning>) -> bool {
    matches!(meaning, None | Some(Meaning::BadRequest | Meaning::Overloaded))
}

const TABLE: &[(&str, Meaning)] = &[
    // Too long.
    ("context_length_exceeded", Meaning::Overflow),
    ("context_window_exceeded", Meaning::Overflow),
    ("ContextWindowExceededError", Meaning::Overflow),
    ("model_context_window_exceeded", Meaning::Overflow),
    ("exceed_context_size_error", Meaning::Overflow),
    ("request_too_large", Meaning::Overflow),
    ("tokens_limit_reached", Meaning::Overflow),
    // Filters.
    ("content_filter", Meaning::Filtered),
    ("ResponsibleAIPolicyViolation", Meaning::Filtered),
    ("content_policy_violation", Meaning::Filtered),
    ("data_inspection_failed", Meaning::Filtered),
    ("invalid_prompt", Meaning::Filtered),
    ("cyber_policy_violation", Meaning::Filtered),
    // Reasoning of another model or resource.
    ("invalid_encrypted_content", Meaning::Stale),
    ("previous_response_not_found", Meaning::Stale),
    // Money.
    ("insufficient_quota", Meaning::Billing),
    ("billing_error", Meaning::Billing),
    ("billing_hard_limit_reached", Meaning::Billing),
    ("billing_not_active", Meaning::Billing),
    ("exceeded_current_quota_error", Meaning::Billing),
    ("insufficient_balance", Meaning::Billing),
    // Names.
    ("DeploymentNotFound", Meaning::NotFound),
    ("model_not_found", Meaning::NotFound),
    ("unknown_model", Meaning::NotFound),
    ("not_found_error", Meaning::NotFound),
    ("NotFoundError", Meaning::NotFound),
    ("NOT_FOUND", Meaning::NotFound),
    // Credentials.
    ("invalid_api_key", Meaning::Auth),
    ("authentication_error", Meaning::Auth),
    ("AuthenticationError", Meaning::Auth),
    ("AuthenticationTypeDisabled", Meaning::Auth),
    ("permission_error", Meaning::Auth),
    ("PermissionDenied", Meaning::Auth),
    ("PERMISSION_DENIED", Meaning::Auth),
    ("UNAUTHENTICATED", Meaning::Auth),
    ("Unauthorized", Meaning::Auth),
    ("Forbidden", Meaning::Auth),
    ("unsupported_country_region_territory", Meaning::Auth),
    // Quota.
    ("rate_limit_exceeded", Meaning::RateLimited),
    ("rate_limit_error", Meaning::RateLimited),
    ("rate_limit_reached_error", Meaning::RateLimited),
    ("RateLimitReached", Meaning::RateLimited),
    ("RateLimitExceeded", Meaning::RateLimited),
    ("RateLimitError", Meaning::RateLimited),
    ("too_many_requests", Meaning::RateLimited),
    ("TooManyRequests", Meaning::RateLimited),
    ("ThrottlingException", Meaning::RateLimited),
    ("RESOURCE_EXHAUSTED", Meaning::RateLimited),
    // Their side.
    ("overloaded_error", Meaning::Overloaded),
    ("engine_overloaded_error", Meaning::Overloaded),
    ("server_is_overloaded", Meaning::Overloaded),
    ("slow_down", Meaning::Overloaded),
    ("api_error", Meaning::Overloaded),
    ("server_error", Meaning::Overloaded),
    ("internal_error", Meaning::Overloaded),
    ("internal_server_error", Meaning::Overloaded),
    ("InternalServerError", Meaning::Overloaded),
    ("INTERNAL", Meaning::Overloaded),
    ("UNAVAILABLE", Meaning::Overloaded),
    ("unavailable_error", Meaning::Overloaded),
    ("service_unavailable", Meaning::Overloaded),
    ("ServiceUnavailable", Meaning::Overloaded),
    ("timeout_error", Meaning::Overloaded),
    ("gateway_timeout_error", Meaning::Overloaded),
    ("gateway_timeout", Meaning::Overloaded),
    ("timeout", Meaning::Overloaded),
    ("RequestTimeout", Meaning::Overloaded),
    ("OperationTimeout", Meaning::Overloaded),
    ("DEADLINE_EXCEEDED", Meaning::Overloaded),
    ("NoCapacity", Meaning::Overloaded),
    // The request.
    ("invalid_request_error", Meaning::BadRequest),
    ("invalid_request", Meaning::BadRequest),
    ("BadRequest", Meaning::BadRequest),
    ("BadRequestError", Meaning::BadRequest),
    ("INVALID_ARGUMENT", Meaning::BadRequest),
    ("unsupported_parameter", Meaning::BadRequest),
    ("unsupported_value", Meaning::BadRequest),
    ("unknown_parameter", Meaning::BadRequest),
    ("invalid_value", Meaning::BadRequest),
    ("OperationNotSupported", Meaning::BadRequest),
    ("not_supported_error", Meaning::BadRequest),
];
