//! `${NAME}` and `${NAME:-default}` in what a person wrote.

/// The text with what stands for its variables. What is wrong is said without any value.
pub(super) fn expand(text: &str, variables: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let after = after.get(2..).unwrap_or_default();
        let Some((inside, behind)) = after.split_once('}') else {
            return Err("has a ${ without a }".to_owned());
        };
        rest = behind;
        let (name, usual) = match inside.split_once(":-") {
            Some((name, usual)) => (name, Some(usual)),
            None => (inside, None),
        };
        // Some programs write where a variable is from.
        let name = name.strip_prefix("env:").unwrap_or(name);
        let is_name = !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && !name.starts_with(|letter: char| letter.is_ascii_digit());
        if !is_name {
            return Err("has a ${…} with something inside that is no name of a variable".to_owned());
        }
        match (variables(name).filter(|value| !value.is_empty()), usual) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(usual)) => out.push_str(usual),
            (None, None) => {
                return Err(format!(
                    "needs the variable {name}, which is not set; set it, or write ${{{name}:-…}}"
                ));
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}
