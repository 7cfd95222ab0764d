//! The code of a SOAP fault: a standard name in the namespace of its version.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::syntax::name::is_part;

const CODE: u16 = 820;

/// A version of SOAP: its name here, its namespace, and its fault codes.
struct Soap {
    version: &'static str,
    namespace: &'static str,
    codes: &'static [&'static str],
}

const SOAP_11: Soap = Soap {
    version: "soap11",
    namespace: "http://schemas.xmlsoap.org/soap/envelope/",
    codes: &["VersionMismatch", "MustUnderstand", "Client", "Server"],
};

const SOAP_12: Soap = Soap {
    version: "soap12",
    namespace: "http://www.w3.org/2003/05/soap-envelope",
    codes: &["VersionMismatch", "MustUnderstand", "DataEncodingUnknown", "Sender", "Receiver"],
};

/// Codes that no fault can have.
pub(super) struct Faults;

impl Rule for Faults {
    fn codes(&self) -> &'static [u16] {
        &[CODE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["code"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() != "makefault.code" {
            return;
        }
        let element = placed.element;
        let version = element.parent().and_then(|parent| parent.value("version"));
        let soap = match version.as_deref() {
            None | Some("soap11") => &SOAP_11,
            Some("soap12") => &SOAP_12,
            Some(_) => return,
        };
        let Some(value) = element.attribute("value") else { return };
        let text = value.value();
        let Some((prefix, local)) = text.trim().split_once(':') else {
            let message = format!("A fault code is a name with a prefix for {}", soap.namespace);
            findings.report(CODE, value.value_span(), message);
            return;
        };
        match element.lookup_namespace(prefix) {
            None if !is_part(prefix) || prefix == "xmlns" => {
                let message =
                    format!("{prefix:?} is no prefix: a fault code is a name such as soapenv:Server");
                findings.report(CODE, value.value_span(), message);
            }
            None => {
                let message = format!("The prefix {prefix} is not declared");
                let edit =
                    Edit::insert(element.attributes_end(), format!(" xmlns:{prefix}=\"{}\"", soap.namespace));
                findings.report(CODE, value.value_span(), message).fix(Fix::review("Declare it", vec![edit]));
            }
            Some(namespace) if namespace != soap.namespace => {
                let message = format!(
                    "{prefix} stands for {namespace}, but a fault of {} needs {}",
                    soap.version, soap.namespace
                );
                findings.report(CODE, value.value_span(), message);
            }
            Some(_) if !soap.codes.contains(&local) => {
                let message =
                    format!("{} has no fault code {local}; it has {}", soap.version, soap.codes.join(", "));
                let other = match local {
                    "Client" => Some("Sender"),
                    "Server" => Some("Receiver"),
                    "Sender" => Some("Client"),
                    "Receiver" => Some("Server"),
                    _ => crate::near::nearest(local, soap.codes.iter().copied()),
                };
                let fix = other.map(|other| {
                    let edit = Edit::replace(value.value_span(), format!("{prefix}:{other}"));
                    Fix::review(format!("Change it to {other}"), vec![edit])
                });
                findings.report(CODE, value.value_span(), message).fix_if(fix);
            }
            Some(_) => {}
        }
    }
}
