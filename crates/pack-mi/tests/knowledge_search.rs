//! Questions find the row that answers them.

use pack_mi::knowledge::{Index, Library, SearchLimits};

/// Where the status of a response is told.
const STATUS: &[&str] = &[
    "synapse-property-reference:http_response",
    "synapse-property-reference:common_patterns",
    "synapse-property-reference:scope_guide",
    "synapse-edge-cases:anti_patterns",
];

/// What is asked, where the answer is (one of several sections), and a text that the answering row has.
const QUESTIONS: &[(&str, &[&str], &str)] = &[
    ("integer + double", &["synapse-expression-spec:type_coercion"], "integer with double"),
    ("string + number", &["synapse-expression-spec:type_coercion", "synapse-expression-spec:operators"], ""),
    ("long comparison", &["synapse-expression-spec:type_system", "synapse-edge-cases:error_catalog"], ""),
    ("precedence of and or", &["synapse-expression-spec:operators"], ""),
    ("unary minus", &["synapse-expression-spec:operators"], ""),
    ("short-circuit", &["synapse-expression-spec:operators", "synapse-expression-spec:null_handling"], ""),
    (
        "payloadFactory args",
        &["synapse-mediator-expression-matrix:patterns", "synapse-mediator-expression-matrix:payloadfactory"],
        "",
    ),
    ("$ctx", &["synapse-variable-resolution:overview"], "$ctx:x"),
    ("$axis2", &["synapse-variable-resolution:overview", "synapse-variable-resolution:properties"], "$axis2"),
    ("toUpper", &["synapse-function-reference:string"], "toUpper"),
    ("subString", &["synapse-function-reference:string"], "subString"),
    ("substring end index", &["synapse-function-reference:string"], "subString"),
    ("split regex", &["synapse-function-reference:string"], "split"),
    ("formatDateTime", &["synapse-function-reference:datetime"], "formatDateTime"),
    ("base64encode", &["synapse-function-reference:encoding"], "base64encode"),
    ("urlEncode blank", &["synapse-function-reference:encoding"], "urlEncode"),
    ("natural logarithm", &["synapse-function-reference:math", "synapse-edge-cases:anti_patterns"], "log"),
    ("round half up decimals", &["synapse-function-reference:math"], "round"),
    ("isNumber long", &["synapse-function-reference:type_check", "synapse-expression-spec:type_system"], ""),
    (
        "exists",
        &[
            "synapse-function-reference:type_check",
            "synapse-function-reference:access",
            "synapse-expression-spec:null_handling",
        ],
        "exists",
    ),
    (
        "integer(5.7)",
        &["synapse-function-reference:type_convert", "synapse-expression-spec:type_coercion"],
        "",
    ),
    ("hashicorp-vault", &["synapse-function-reference:access"], "hashicorp-vault"),
    ("registry property", &["synapse-variable-resolution:registry", "synapse-function-reference:access"], ""),
    (
        "xpath namespace prefix",
        &["synapse-function-reference:access", "synapse-variable-resolution:payload"],
        "",
    ),
    (
        "leading zeros header",
        &["synapse-variable-resolution:auto_numeric", "synapse-function-reference:type_convert"],
        "",
    ),
    (
        "params.pathParams",
        &["synapse-variable-resolution:parameters", "synapse-variable-resolution:overview"],
        "pathParams",
    ),
    ("uriParams", &["synapse-variable-resolution:overview", "synapse-edge-cases:anti_patterns"], "uriParams"),
    (
        "functionParams outside template",
        &["synapse-variable-resolution:parameters", "synapse-variable-resolution:overview"],
        "functionParams",
    ),
    ("configs suffix lost", &["synapse-variable-resolution:configs"], ""),
    ("$SYSTEM", &["synapse-variable-resolution:configs"], "$SYSTEM"),
    (
        "responseVariable map",
        &["synapse-variable-resolution:variables", "synapse-mediator-expression-matrix:connectors"],
        "",
    ),
    (
        "variables in foreach gone",
        &[
            "synapse-variable-resolution:variables",
            "synapse-mediator-expression-matrix:foreach",
            "synapse-edge-cases:anti_patterns",
        ],
        "",
    ),
    ("counter-variable", &["synapse-mediator-expression-matrix:foreach"], "counter-variable"),
    (
        "scatter-gather timeout milliseconds",
        &["synapse-mediator-expression-matrix:scatter_gather", "synapse-edge-cases:anti_patterns"],
        "timeout",
    ),
    (
        "throwError errorMessage",
        &[
            "synapse-mediator-expression-matrix:throwerror",
            "synapse-mediator-expression-matrix:patterns",
            "synapse-edge-cases:anti_patterns",
        ],
        "errorMessage",
    ),
    (
        "enrich xpath expression",
        &["synapse-mediator-expression-matrix:enrich", "synapse-mediator-expression-matrix:patterns"],
        "",
    ),
    ("dblookup first row", &["synapse-mediator-expression-matrix:db"], ""),
    (
        "validate json schema",
        &["synapse-mediator-expression-matrix:validate", "synapse-mediator-reference:validate"],
        "",
    ),
    (
        "switch regex full match",
        &["synapse-mediator-expression-matrix:switch_mediator", "synapse-mediator-expression-matrix:filter"],
        "",
    ),
    (
        "payload after call",
        &["synapse-mediator-expression-matrix:payload_state", "synapse-mediator-expression-matrix:call"],
        "",
    ),
    (
        "overwriteBody",
        &[
            "synapse-mediator-expression-matrix:connectors",
            "synapse-mediator-expression-matrix:payload_state",
        ],
        "overwriteBody",
    ),
    ("Comparison between non-numeric values", &["synapse-edge-cases:error_catalog"], "Comparison between"),
    ("leftover input", &["synapse-edge-cases:error_catalog"], "leftover input"),
    ("Null inputs for", &["synapse-edge-cases:error_catalog"], "Null inputs"),
    ("ClassCastException", &["synapse-edge-cases:error_catalog"], "ClassCastException"),
    ("&lt; in attribute", &["synapse-edge-cases:xml_escaping", "synapse-expression-spec:literals"], "&lt;"),
    ("CDATA", &["synapse-edge-cases:xml_escaping"], "CDATA"),
    (
        "json-eval",
        &[
            "synapse-edge-cases:expression_v1_v2_coexistence",
            "synapse-variable-resolution:overview",
            "synapse-mediator-expression-matrix:patterns",
        ],
        "json-eval",
    ),
    (
        "dollar sign price format",
        &["synapse-edge-cases:payload_factory_gotchas", "synapse-mediator-expression-matrix:payloadfactory"],
        "$5",
    ),
    (
        "broken JSON quotes",
        &["synapse-mediator-expression-matrix:payloadfactory", "synapse-edge-cases:payload_factory_gotchas"],
        "",
    ),
    (
        "reserved words after a dot",
        &["synapse-expression-spec:identifiers", "synapse-variable-resolution:parameters"],
        "",
    ),
    ("division rounding", &["synapse-expression-spec:overflow", "synapse-edge-cases:type_gotchas"], ""),
    ("slice step", &["synapse-expression-spec:jsonpath"], "slice"),
    (
        "SYN0401",
        &[
            "synapse-edge-cases:anti_patterns",
            "synapse-edge-cases:type_gotchas",
            "synapse-expression-spec:operators",
        ],
        "SYN0401",
    ),
    (
        "default value missing query parameter",
        &["synapse-variable-resolution:parameters", "synapse-edge-cases:validated_patterns"],
        "",
    ),
    ("SC_ACCEPTED", &["synapse-property-reference:http_response"], "FORCE_SC_ACCEPTED"),
    ("NO_ENTITY_BODY", &["synapse-property-reference:http_response"], "NO_ENTITY_BODY"),
    (
        "messageType",
        &["synapse-property-reference:http_response", "synapse-property-reference:content_type"],
        "messageType",
    ),
    (
        "REST_URL_POSTFIX",
        &["synapse-property-reference:rest_properties", "synapse-property-reference:http_protocol"],
        "REST_URL_POSTFIX",
    ),
    (
        "ERROR_CODE",
        &["synapse-property-reference:message_flow", "synapse-mediator-reference:fault_handling"],
        "ERROR_CODE",
    ),
    (
        "suspendOnFailure progressionFactor",
        &["synapse-endpoint-reference:http", "synapse-endpoint-reference:common_config"],
        "progressionFactor",
    ),
    (
        "responseAction discard fault",
        &["synapse-endpoint-reference:http", "synapse-endpoint-reference:common_config"],
        "responseAction",
    ),
    ("loadbalance members", &["synapse-endpoint-reference:loadbalance"], ""),
    ("message processor interval", &["synapse-async-reference:message_processors"], "interval"),
    (
        "max.delivery.attempts",
        &["synapse-async-reference:message_processors", "synapse-async-reference:dlq_pattern"],
        "max.delivery.attempts",
    ),
    ("inbound file FileURI", &["synapse-artifact-reference:inbound_endpoint"], "FileURI"),
    ("task cron", &["synapse-artifact-reference:scheduled_task"], "cron"),
    ("uri-template url-mapping resource", &["synapse-artifact-reference:api_resource"], ""),
    (
        "soapAction header",
        &["synapse-soap-namespace-guide:soap_basics", "synapse-soap-namespace-guide:common_mistakes"],
        "SOAPAction",
    ),
    ("soap fault detail", &["synapse-soap-namespace-guide:soap_faults"], ""),
    ("mock service port", &["unit-test-reference:mock_services"], ""),
    ("assertEquals", &["unit-test-reference:schema", "unit-test-reference:assertions"], "assertEquals"),
    (
        "dmUtils",
        &[
            "data-mapper-reference:dmutils_functions",
            "data-mapper-reference:when_to_use_dmutils",
            "data-mapper-reference:typescript_rules",
        ],
        "dmUtils",
    ),
    (
        "freemarker",
        &["synapse-payload-patterns:freemarker_patterns", "synapse-mediator-reference:payload_factory"],
        "FreeMarker",
    ),
    (
        "artifact.xml mediaType",
        &["registry-resource-guide:artifact_xml", "registry-resource-guide:media_types"],
        "",
    ),
    (
        "vector store knowledge base",
        &[
            "ai-connector-app-development:knowledge_base",
            "ai-connector-app-development:connections",
            "ai-connector-app-development:rag",
        ],
        "",
    ),
    ("http connector basic authentication", &["http-connector-guide:authentication"], ""),
    // Questions in everyday words, which the references answer in words of the language.
    ("http status code", STATUS, "HTTP_SC"),
    ("return status 404", STATUS, "HTTP_SC"),
    ("response status code", STATUS, "HTTP_SC"),
    (
        "connect to a mysql database",
        &["synapse-artifact-reference:data_service", "synapse-mediator-reference:db"],
        "",
    ),
    ("stored procedure", &["synapse-artifact-reference:data_service", "synapse-mediator-reference:db"], ""),
    (
        "add an authorization header",
        &["synapse-mediator-reference:header", "synapse-function-reference:encoding"],
        "Authorization",
    ),
    (
        "set a variable",
        &[
            "synapse-mediator-reference:property",
            "synapse-property-reference:scope_guide",
            "synapse-variable-resolution:variables",
        ],
        "vars.x",
    ),
    ("call a sequence", &["synapse-artifact-reference:sequence_template"], "sequence"),
    (
        "if else",
        &[
            "synapse-mediator-reference:filter_switch",
            "synapse-mediator-expression-matrix:filter",
            "synapse-expression-spec:operators",
        ],
        "",
    ),
    (
        "concatenate strings",
        &[
            "synapse-function-reference:summary",
            "synapse-function-reference:string",
            "synapse-expression-spec:operators",
            "synapse-expression-spec:type_coercion",
        ],
        "+",
    ),
    (
        "aggregate responses",
        &["synapse-mediator-reference:scatter_gather", "synapse-mediator-expression-matrix:scatter_gather"],
        "",
    ),
    ("how do I read a header", &["synapse-variable-resolution:headers"], "headers"),
    (
        "catch exception",
        &["synapse-mediator-reference:fault_handling", "synapse-artifact-reference:sequence_template"],
        "",
    ),
    (
        "reuse a sequence with parameters",
        &["synapse-mediator-reference:call_template", "synapse-artifact-reference:sequence_template"],
        "template",
    ),
    (
        "string to number",
        &["synapse-function-reference:type_convert", "synapse-function-reference:summary"],
        "integer",
    ),
    ("substring", &["synapse-function-reference:string", "synapse-function-reference:summary"], "subString"),
];

#[test]
fn questions_find_their_row_among_the_first_three() {
    assert!(QUESTIONS.len() >= 40);
    let mut wrong = Vec::new();
    let mut passed_over = 0;
    for (question, homes, text) in QUESTIONS {
        if !homes.iter().any(|home| Library::builtin().select(home).is_ok()) {
            passed_over += 1;
            continue;
        }
        let found = Index::builtin().search(question, None, SearchLimits::default());
        let fits = |hit: &pack_mi::knowledge::Hit| {
            homes.contains(&hit.selector().as_str()) && hit.text.to_lowercase().contains(&text.to_lowercase())
        };
        if !found.hits.iter().take(3).any(fits) {
            let first: Vec<String> = found
                .hits
                .iter()
                .take(4)
                .map(|hit| {
                    format!(
                        "    {:.1} {} | {}",
                        hit.score,
                        hit.selector(),
                        hit.text.lines().last().unwrap_or_default()
                    )
                })
                .collect();
            wrong.push(format!("{question}: expected {homes:?} {text:?}\n{}", first.join("\n")));
        }
    }
    // Where only a part of the documents is there, only that part is asked about.
    assert!(passed_over == 0 || Library::builtin().references().len() < 17, "{passed_over} answers are gone");
    assert!(wrong.is_empty(), "{} of {} questions\n{}", wrong.len(), QUESTIONS.len(), wrong.join("\n"));
}

#[test]
fn the_same_question_gets_the_same_answer() {
    let ask = || Index::builtin().search("payloadFactory media-type", None, SearchLimits::default());
    assert_eq!(ask(), ask());
}
