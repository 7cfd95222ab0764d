//! Keys of the registry, and the files of the project that answer them.

use super::Project;

/// What is known about a key of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// A file of the project answers it.
    Found,
    /// It belongs to the project, and no file answers it.
    Missing,
    /// It lies elsewhere: on the server, on the web.
    Elsewhere,
}

/// Where resources lie in a project.
pub(crate) const FOLDER: &str = "src/main/wso2mi/resources/";

impl Project {
    /// What is known about a key such as `gov:/schemas/order.json` or `resources:scripts/a.js`.
    #[must_use]
    pub fn resource(&self, key: &str) -> Resource {
        let Some(place) = place(key) else { return Resource::Elsewhere };
        let path = match &place {
            Place::Registry(path) => registry_file(path).map(|file| format!("{FOLDER}registry/{file}")),
            Place::Resources(path) => Some(format!("{FOLDER}{path}")),
        };
        let Some(path) = path else { return Resource::Elsewhere };
        let described = match &place {
            Place::Registry(path) => path.clone(),
            Place::Resources(path) => format!("/_system/governance/mi-resources/{path}"),
        };
        let found = self.has_file_ending(&path) || self.puts(&described) || self.is_built(&path);
        if found { Resource::Found } else { Resource::Missing }
    }

    /// The keys of the project's resources, in the form of the given one.
    pub(crate) fn resource_keys(&self, like: &str) -> Vec<String> {
        let (scheme, slash) = match like.split_once(':') {
            Some((scheme, rest)) => (scheme, if rest.starts_with('/') { "/" } else { "" }),
            None => return Vec::new(),
        };
        let folder = match scheme {
            "gov" | "conf" => format!("{FOLDER}registry/{scheme}/"),
            "resources" => FOLDER.to_owned(),
            _ => return Vec::new(),
        };
        let inside = self.others.iter().filter_map(|path| path.split_once(&folder).map(|(_, rest)| rest));
        inside.map(|rest| format!("{scheme}:{slash}{rest}")).collect()
    }

    /// Whether there is a file of that path, also below the folder of a module.
    fn has_file_ending(&self, path: &str) -> bool {
        let ends = |one: &str| one.strip_suffix(path).is_some_and(|rest| rest.ends_with('/'));
        self.has_file(path) || self.other_files().any(ends) || self.files().any(|(one, _)| ends(one))
    }

    /// Whether a descriptor puts something at that path of the registry.
    fn puts(&self, path: &str) -> bool {
        let items = self.files.values().flat_map(super::File::items);
        items.into_iter().any(|item| {
            let folder = item.path.trim_end_matches('/');
            if item.is_folder {
                path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            } else {
                path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) == Some(item.file.as_str())
            }
        })
    }

    /// Whether the build makes it: mappings and their schemas come from a script beside them.
    fn is_built(&self, path: &str) -> bool {
        let Some((folder, _)) = path.rsplit_once('/').filter(|_| path.contains("/datamapper/")) else {
            return false;
        };
        let script = |one: &str| {
            one.rsplit_once('/').is_some_and(|(there, name)| there.ends_with(folder) && name.ends_with(".ts"))
        };
        self.other_files().any(script)
    }
}

enum Place {
    /// From the root of the registry, with a slash.
    Registry(String),
    /// From the folder of resources, without one.
    Resources(String),
}

/// Where a key looks; nothing for keys of other places.
fn place(key: &str) -> Option<Place> {
    let (scheme, rest) = key.split_once(':')?;
    let rest = rest.trim_start_matches('/');
    match scheme {
        "gov" => Some(Place::Registry(format!("/_system/governance/{rest}"))),
        "conf" => Some(Place::Registry(format!("/_system/config/{rest}"))),
        "resources" => Some(Place::Resources(rest.to_owned())),
        _ => None,
    }
}

/// The file of a path of the registry, from the folder `registry`.
fn registry_file(path: &str) -> Option<String> {
    let governed = path.strip_prefix("/_system/governance/").map(|rest| format!("gov/{rest}"));
    governed.or_else(|| path.strip_prefix("/_system/config/").map(|rest| format!("conf/{rest}")))
}
