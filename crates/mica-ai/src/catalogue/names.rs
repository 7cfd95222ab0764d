//! When two names mean the same model.

/// What of a name says who serves a model, and what makes it another model. Data: see `models.toml`.
#[derive(Debug, Clone, Default)]
pub(super) struct NameRules {
    pub(super) vendors: Vec<String>,
    pub(super) variants: Vec<String>,
}

impl NameRules {
    /// Adds rules.
    pub(super) fn extend(&mut self, more: NameRules) {
        self.vendors.extend(more.vendors);
        self.variants.extend(more.variants);
    }

    /// A name without what says who makes or serves the model: everything up to the last `/`, then known vendors and
    /// regions that a dot sets off.
    pub(super) fn without_vendor<'a>(&self, name: &'a str) -> &'a str {
        let mut bare = name.rsplit('/').next().unwrap_or(name);
        while let Some((head, tail)) = bare.split_once('.')
            && !tail.is_empty()
            && self.vendors.iter().any(|vendor| vendor.eq_ignore_ascii_case(head))
        {
            bare = tail;
        }
        bare
    }

    /// Whether what follows a model's name leaves it the same model: dates, versions, and words people put into the
    /// names of deployments; not another size, another kind or another version of the model.
    pub(super) fn same_model(&self, rest: &str) -> bool {
        let mut parts = rest.split(['-', ':']).peekable();
        let mut after_version = false;
        while let Some(part) = parts.next() {
            if is_year(part) {
                // A date in three parts; what is left of it are numbers that would else be read as versions.
                parts.next_if(|part| is_number_of(part, 2));
                parts.next_if(|part| is_number_of(part, 2));
                continue;
            }
            if part.is_empty() || self.variants.iter().any(|word| word == part) || is_size(part) {
                return false;
            }
            let number = part.bytes().all(|byte| byte.is_ascii_digit());
            // Four digits are a month and a day, or a year and a month; six and eight are a date.
            if number && !matches!(part.len(), 4 | 6 | 8) && !after_version {
                return false;
            }
            after_version = part.strip_prefix('v').is_some_and(is_number);
        }
        true
    }
}

/// The form in which names are compared: lower case, with one kind of separator. `GPT_5.5` and `gpt-5-5` are one name.
pub(crate) fn normal(name: &str) -> String {
    name.trim()
        .chars()
        .map(|letter| match letter {
            '.' | '_' | ' ' | '@' => '-',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_number_of(text: &str, digits: usize) -> bool {
    text.len() == digits && is_number(text)
}

fn is_year(text: &str) -> bool {
    is_number_of(text, 4) && text.starts_with("20")
}

/// `70b` parameters or a window of `16k`.
fn is_size(text: &str) -> bool {
    text.strip_suffix(['b', 'k', 'm']).is_some_and(is_number)
}
