//! What to do about the numbered refusals of Microsoft's token endpoint.

/// Code, what it means for the person who set this up, and the way out.
const HINTS: &[(&str, &str)] = &[
    (
        "AADSTS7000215",
        "The client secret is wrong. Use the secret's value, not its id, from the app registration's \"Certificates & secrets\".",
    ),
    (
        "AADSTS7000222",
        "The client secret has expired. Create a new one in the app registration's \"Certificates & secrets\".",
    ),
    (
        "AADSTS700016",
        "The application is not known in this tenant. Check the client id, and that the tenant id is the one it is registered in.",
    ),
    (
        "AADSTS90002",
        "The tenant does not exist. Check the tenant id, and for a sovereign cloud the authority host.",
    ),
    ("AADSTS900023", "The tenant id is neither a GUID nor a domain name. Check it for a typing mistake."),
    (
        "AADSTS65001",
        "Nobody consented to this scope. Check the scope, try https://cognitiveservices.azure.com/.default, or ask an administrator for consent.",
    ),
    (
        "AADSTS500011",
        "The scope names a resource this tenant does not know. Check the scope; try https://cognitiveservices.azure.com/.default.",
    ),
    ("AADSTS70011", "The scope is malformed. It is an address that ends in /.default."),
    ("AADSTS1002012", "The scope must end in /.default for an identity without a user."),
    (
        "AADSTS70021",
        "No federated credential of the application matches the token. Compare its issuer, subject and audience with the service account's.",
    ),
    (
        "AADSTS700211",
        "No federated credential of the application matches the token's issuer. Check the cluster's OIDC issuer address.",
    ),
    (
        "AADSTS700212",
        "No federated credential of the application matches the token's audience. It must be api://AzureADTokenExchange.",
    ),
    (
        "AADSTS700213",
        "No federated credential of the application matches the token's subject. Check the namespace and the service account's name.",
    ),
    (
        "AADSTS700024",
        "The federated token is out of its time. Check that the token file is being rotated, and the machine's clock.",
    ),
    ("AADSTS7000112", "The application is disabled. Enable it under \"Enterprise applications\"."),
    (
        "AADSTS53003",
        "Conditional access blocks this sign-in. Ask the tenant's administrator, or use an identity the policy allows.",
    ),
    ("AADSTS50076", "The tenant asks for a second factor. Run `az login` again, for this scope."),
    ("AADSTS50079", "The tenant asks to set up a second factor. Run `az login` again and follow it."),
    ("AADSTS50173", "The sign-in was revoked. Run `az login` again."),
    ("AADSTS70043", "The sign-in has expired. Run `az login` again."),
    ("AADSTS700082", "The sign-in was unused for too long. Run `az login` again."),
    (
        "AADSTS50034",
        "The user is not known in this tenant. Run `az login --tenant <tenant>` with the right one.",
    ),
];

/// The way out for a code, when there is one.
pub(super) fn hint(code: &str) -> Option<&'static str> {
    HINTS.iter().find(|(known, _)| *known == code).map(|(_, hint)| *hint)
}
