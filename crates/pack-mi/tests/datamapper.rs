//! The tools for data mappers, as a model calls them: on a project on disk, with undo, with mappings that mean no good.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::{Preview, RunId, Tool, ToolCx};
use mica_ai::Content;
use mica_ai::id::CallId;
use mica_tools::{FileChange, FileUse, Journal, Workspace};
use pack_mi::Checker;
use pack_mi::datamapper::{DataMapping, Mapper, TypeChecker, TypeReport};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const POM: &str =
    "<project><properties><project.runtime.version>4.4.0</project.runtime.version></properties></project>";
const FOLDER: &str = "src/main/wso2mi/resources/datamapper/orders";
const INPUT: &str = r#"{"order_id": 7, "customer": {"name": "Ann"}, "lines": [{"sku": "a", "qty": 2}, {"sku": "b", "qty": 1, "note": "x"}]}"#;
const OUTPUT: &str =
    r#"{"orderId": 1, "customerName": "x", "lines": [{"sku": "a", "amount": 1}], "total": 3}"#;
const MAPPING: &str = "return {\n  orderId: input.order_id,\n  customerName: dmUtils.toUppercase(input.customer.name),\n  lines: input.lines.map((line) => { return { sku: line.sku, amount: line.qty }; }),\n  total: input.lines.reduce((sum, line) => sum + line.qty, 0)\n};";

/// A journal that can undo.
#[derive(Default)]
struct Kept(Mutex<Vec<FileChange>>);

impl Journal for Kept {
    fn changed(&self, change: FileChange) {
        self.0.lock().unwrap().push(change);
    }
}

impl Kept {
    fn undo(&self) {
        for change in self.0.lock().unwrap().drain(..).rev() {
            match change.before {
                Some(before) => fs::write(&change.path, before.bytes).unwrap(),
                None => fs::remove_file(&change.path).unwrap(),
            }
        }
    }
}

/// A model that says what it was told to say.
struct Says(&'static str, Mutex<Vec<String>>);

#[async_trait]
impl Mapper for Says {
    async fn map(&self, prompt: &str) -> Result<String, String> {
        self.1.lock().unwrap().push(prompt.to_owned());
        Ok(self.0.to_owned())
    }
}

/// A compiler that complains.
struct Complains;

#[async_trait]
impl TypeChecker for Complains {
    async fn check(&self, file: &Path, _: &CancellationToken) -> TypeReport {
        let name = file.file_name().unwrap().to_string_lossy();
        TypeReport::Found(vec![format!("{name}(3,5): error TS2322: no.")])
    }
}

struct Desk {
    _folder: TempDir,
    workspace: Workspace,
    journal: Arc<Kept>,
    with: DataMapping,
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let journal = Arc::new(Kept::default());
        let workspace =
            Workspace::new(folder.path()).unwrap().with_journal(Arc::clone(&journal) as Arc<dyn Journal>);
        let desk = Self { _folder: folder, workspace, journal, with: DataMapping::default() };
        desk.put("pom.xml", POM);
        desk.put("src/main/wso2mi/artifacts/apis/.keep", "");
        for (path, text) in files {
            desk.put(path, text);
        }
        desk
    }

    fn path(&self, path: &str) -> PathBuf {
        self.workspace.root().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn checker(&self) -> Checker {
        Checker::new(self.workspace.root())
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let tools = self.with.tools(&self.workspace, &self.checker());
        tools.into_iter().find(|tool| tool.spec().name == name).unwrap()
    }

    async fn call(&self, name: &str, args: Value) -> Result<(String, FileUse), String> {
        let cx = ToolCx::new(RunId::fresh(), CallId::from("call-1"), CancellationToken::new(), |_| {});
        let args = args.as_object().unwrap().clone();
        let output = self.tool(name).call(args, &cx).await.map_err(|error| error.message)?;
        let texts = output.content.iter().map(|content| match content {
            Content::Text { text } => text.clone(),
            Content::Image(_) => "<image>".to_owned(),
        });
        Ok((texts.collect(), FileUse::of(output.details.as_ref())))
    }

    async fn create(&self, more: Value) -> Result<(String, FileUse), String> {
        let mut args = json!({ "name": "orders", "input_schema": INPUT, "input_type": "JSON", "output_schema": OUTPUT, "output_type": "JSON" });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("create_data_mapper", args).await
    }

    async fn generate(&self, more: Value) -> Result<(String, FileUse), String> {
        let mut args = json!({ "dm_config_path": FOLDER });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("generate_data_mapping", args).await
    }

    /// All files and what they say.
    fn all(&self) -> BTreeMap<String, String> {
        fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, String>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    let name = path.strip_prefix(root).unwrap().display().to_string();
                    found.insert(name, fs::read_to_string(&path).unwrap());
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(self.workspace.root(), self.workspace.root(), &mut found);
        found
    }
}

const MEDIATOR: &str = "<datamapper config=\"resources:/datamapper/orders/orders.dmc\" inputSchema=\"resources:/datamapper/orders/orders_inputSchema.json\" inputType=\"JSON\" outputSchema=\"resources:/datamapper/orders/orders_outputSchema.json\" outputType=\"JSON\"/>";

#[tokio::test]
async fn a_mapper_is_created_tried_and_undone() {
    let artifact = "<artifacts>\n</artifacts>\n";
    let desk = Desk::new(&[("src/main/wso2mi/resources/artifact.xml", artifact)]);
    let before = desk.all();
    let (text, files) = desk.create(json!({ "mapping": MAPPING })).await.unwrap();
    let list = format!(
        "{FOLDER}/orders.ts, {FOLDER}/dm-utils.ts, {FOLDER}/sample-input.json, src/main/wso2mi/resources/artifact.xml"
    );
    let result = json!({ "orderId": 7, "customerName": "ANN", "lines": [{ "sku": "a", "amount": 2 }, { "sku": "b", "amount": 1 }], "total": 3 });
    assert_eq!(
        text,
        format!(
            "Created the data mapper orders: {list}.\nUse it with:\n{MEDIATOR}\n\nTried on the sample; the result is:\n{}\nIt fits the target schema.\nTypes were not checked: there is no TypeScript compiler here.",
            serde_json::to_string_pretty(&result).unwrap()
        )
    );
    assert_eq!(files.changed.len(), 4);
    let script = desk.text(&format!("{FOLDER}/orders.ts"));
    assert!(script.contains("interface Root {\n    order_id: number\n    customer: {\n        name: string\n    }\n    lines: {\n        sku: string\n        qty: number\n        note?: string\n    }[]\n}\n"), "{script}");
    assert!(script.contains("export function mapFunction(input: Root): OutputRoot {\n    return {\n      orderId: input.order_id,"), "{script}");
    assert_eq!(desk.text("src/main/wso2mi/resources/artifact.xml").matches("<artifact name=").count(), 3);
    assert_eq!(
        serde_json::from_str::<Value>(&desk.text(&format!("{FOLDER}/sample-input.json"))).unwrap(),
        serde_json::from_str::<Value>(INPUT).unwrap()
    );

    // The mediator is what the checker expects, and what it names is there.
    let sequence = format!(
        "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"s\">\n    {MEDIATOR}\n    <respond/>\n</sequence>\n"
    );
    desk.put("src/main/wso2mi/artifacts/sequences/s.xml", &sequence);
    let checked = desk.checker().changed(&[
        desk.path("src/main/wso2mi/artifacts/sequences/s.xml"),
        desk.path("src/main/wso2mi/resources/artifact.xml"),
    ]);
    let found: Vec<String> = checked
        .iter()
        .flat_map(|file| &file.found)
        .map(|one| format!("{} {}", one.code, one.message))
        .collect();
    assert_eq!((checked.len(), found), (2, Vec::<String>::new()));
    fs::remove_file(desk.path("src/main/wso2mi/artifacts/sequences/s.xml")).unwrap();

    desk.journal.undo();
    assert_eq!(desk.all(), before, "everything is as it was, artifact.xml included");
}

#[tokio::test]
async fn what_is_there_is_not_overwritten() {
    let desk = Desk::new(&[]);
    desk.create(json!({})).await.unwrap();
    let before = desk.all();
    let error = desk.create(json!({})).await.unwrap_err();
    assert_eq!(
        error,
        format!(
            "{FOLDER}/orders.ts is there already, and is not replaced. Change it with generate_data_mapping, or choose another name."
        )
    );
    assert_eq!(desk.all(), before);
}

#[tokio::test]
async fn obvious_fields_need_no_model() {
    let desk = Desk::new(&[]);
    let (text, _) = desk.create(json!({ "auto_map": true })).await.unwrap();
    assert!(text.contains("Mapped 3 fields by their names. Not mapped:\n- lines[].amount: nothing of that name\n- total: nothing of that name\n"), "{text}");
    assert!(text.contains("Missing: "), "{text}");
    let body = desk.text(&format!("{FOLDER}/orders.ts"));
    let body = body.split_once("): OutputRoot {\n").unwrap().1;
    assert_eq!(
        body,
        "    return {\n        orderId: input.order_id,\n        customerName: input.customer.name,\n        lines: input.lines.map((linesItem) => {\n            return {\n                sku: linesItem.sku\n            };\n        })\n    };\n}\n\n"
    );
}

#[tokio::test]
async fn schemas_come_from_files_and_other_forms() {
    let xsd = r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="order"><xs:complexType><xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence></xs:complexType></xs:element></xs:schema>"#;
    let desk = Desk::new(&[("schemas/order.xsd", xsd)]);
    let args = json!({ "input_schema": "schemas/order.xsd", "input_type": "XSD", "output_schema": "id,name\n1,a\n", "output_type": "CSV", "mapping": "return [{ id: input.id, name: \"n\" }];" });
    let (text, _) = desk.create(args).await.unwrap();
    assert!(text.contains("inputType=\"XML\" outputSchema=\"resources:/datamapper/orders/orders_outputSchema.json\" outputType=\"CSV\"/>"), "{text}");
    assert!(text.contains("Tried on an example made from the input schema; the result is:\n[\n  {\n    \"id\": 1,\n    \"name\": \"n\"\n  }\n]\nIt fits the target schema."), "{text}");
    assert!(!desk.path(&format!("{FOLDER}/sample-input.json")).exists());
    for (schema, form, why) in [
        ("../out.json", "JSON", "outside"),
        ("gone.json", "JSON", "gone.json"),
        ("{", "JSON", "input_schema cannot be used: it is no usable JSON"),
        ("<a>", "XML", "input_schema cannot be used: it is no usable XML, line 1"),
    ] {
        let error = desk
            .create(json!({ "name": "other", "input_schema": schema, "input_type": form }))
            .await
            .unwrap_err();
        assert!(error.contains(why), "{schema}: {error}");
    }
    assert!(!desk.path("src/main/wso2mi/resources/datamapper/other").exists());
}

#[tokio::test]
async fn older_runtimes_have_another_place() {
    let desk = Desk::new(&[]);
    desk.put("pom.xml", &POM.replace("4.4.0", "4.3.0"));
    let (text, files) = desk.create(json!({ "mapping": MAPPING })).await.unwrap();
    assert!(text.contains("config=\"gov:/datamapper/orders/orders.dmc\""), "{text}");
    let shown: Vec<String> = files
        .changed
        .iter()
        .map(|path| path.strip_prefix(desk.workspace.root()).unwrap().display().to_string())
        .collect();
    let base = "src/main/wso2mi/resources/registry";
    assert_eq!(
        shown,
        [
            format!("{base}/gov/datamapper/orders/orders.ts"),
            format!("{base}/gov/datamapper/orders/dm-utils.ts"),
            format!("{base}/gov/datamapper/orders/sample-input.json"),
            format!("{base}/artifact.xml"),
        ]
    );
}

#[tokio::test]
async fn helpers_of_the_project_are_taken() {
    let own = "// newer\nexport function toUppercase(s: string) { return s + \"!\"; }\n";
    let desk = Desk::new(&[("src/main/wso2mi/resources/datamapper/first/dm-utils.ts", own)]);
    let (text, _) = desk.create(json!({ "mapping": MAPPING })).await.unwrap();
    assert_eq!(desk.text(&format!("{FOLDER}/dm-utils.ts")), own);
    assert!(text.contains("\"customerName\": \"Ann!\""), "{text}");
}

#[tokio::test]
async fn mappings_that_mean_no_good_are_not_written() {
    let desk = Desk::new(&[]);
    desk.create(json!({})).await.unwrap();
    let before = desk.all();
    for (mapping, why) in [
        ("for (;;) {}", "did not end within"),
        ("const a: any[] = []; for (;;) a.push(new Array(1e6).fill(1));", "MB of memory"),
        (
            "return input.gone.deeper;",
            "TypeError: cannot read property 'deeper' of undefined\n    at mapFunction (orders.ts:",
        ),
        ("return { a: };", "Syntax error in orders.ts, line"),
        ("return (f => f(f))((f: any): any => f(f));", "calls itself without an end"),
        ("return require('fs').readFileSync('/etc/passwd');", "ReferenceError: require is not defined"),
        ("return new Promise(() => {});", "nothing will ever settle"),
        ("return () => 1;", "that JSON can say: it is a function"),
    ] {
        let error = desk.generate(json!({ "mapping": mapping })).await.unwrap_err();
        assert!(error.contains(why) && error.contains("was not changed"), "{mapping}: {error}");
        assert_eq!(desk.all(), before, "{mapping}");
    }
    let error = desk.create(json!({ "name": "bad", "mapping": "return input.a.b.c;" })).await.unwrap_err();
    assert!(
        error.starts_with("The mapping does not run on the sample, so nothing was written.\nTypeError"),
        "{error}"
    );
    assert_eq!(desk.all(), before);
}

#[tokio::test]
async fn a_mapping_is_filled_in_and_changed() {
    let mut desk = Desk::new(&[]);
    desk.with.types = Some(Arc::new(Complains));
    desk.create(json!({})).await.unwrap();
    for path in ["", "/orders.ts", "/dm-utils.ts", "/sample-input.json"] {
        let (text, _) = desk
            .call(
                "generate_data_mapping",
                json!({ "dm_config_path": format!("{FOLDER}{path}"), "mapping": MAPPING }),
            )
            .await
            .unwrap();
        let first = if path.is_empty() {
            format!("Wrote the mapping into {FOLDER}/orders.ts.\n")
        } else {
            format!("{FOLDER}/orders.ts has this mapping already; nothing was written.\n")
        };
        assert!(text.starts_with(&first) && text.ends_with("It fits the target schema.\nThe TypeScript compiler says:\norders.ts(3,5): error TS2322: no."), "{text}");
    }
    // A field that the new mapping says nothing of is kept.
    let part = "return { orderId: 5, customerName: input.customer.name, lines: [] };";
    let (text, _) = desk.generate(json!({ "mapping": part })).await.unwrap();
    assert!(text.contains("Kept as they were, because the new mapping says nothing of them (replace: true drops them): total\n"), "{text}");
    assert!(text.contains("\"total\": 3"), "{text}");
    let (text, _) = desk.generate(json!({ "mapping": part, "replace": true })).await.unwrap();
    assert!(text.contains("Missing: total"), "{text}");
    // With variables, nobody can say what keeping would mean.
    desk.generate(json!({ "mapping": "const n = 1;\nreturn { orderId: n, customerName: \"a\", lines: [], total: 2 };" })).await.unwrap();
    let error = desk.generate(json!({ "mapping": "return { orderId: 1 };" })).await.unwrap_err();
    assert!(error.starts_with("The new mapping would lose fields that are mapped now (customerName, lines, total). Map them too, or set replace to true"), "{error}");
}

#[tokio::test]
async fn somebody_else_writes_the_mapping() {
    let mut desk = Desk::new(&[]);
    desk.create(json!({})).await.unwrap();
    let error = desk.generate(json!({ "instructions": "all" })).await.unwrap_err();
    assert!(error.starts_with("Nobody here writes mappings from words. Give mapping: the body of mapFunction(input) for\nimport * as dmUtils"), "{error}");
    let says = Arc::new(Says(
        "```ts\nexport function mapFunction(input: Root): OutputRoot {\n    return { orderId: help(input.order_id), customerName: \"<&>\", lines: [], total: 0 };\n}\nfunction help(n: number): number { return n + 1; }\n```",
        Mutex::default(),
    ));
    desk.with.mapper = Some(Arc::clone(&says) as Arc<dyn Mapper>);
    let (text, _) = desk.generate(json!({ "instructions": "Add <one> & \"more\"." })).await.unwrap();
    assert!(text.contains("\"orderId\": 8"), "{text}");
    let prompts = says.1.lock().unwrap().clone();
    assert_eq!(prompts.len(), 1);
    assert!(
        prompts[0].contains("interface OutputRoot {")
            && prompts[0].contains("<instructions>\nAdd <one> & \"more\".\n</instructions>"),
        "nothing is escaped: {}",
        prompts[0]
    );
    let (text, _) = desk.create(json!({ "name": "second", "mapping_instructions": "go" })).await.unwrap();
    assert!(text.contains("\"customerName\": \"<&>\""), "{text}");
    // What somebody else wrote and does not run is not handed on; what is obvious stays.
    desk.with.mapper = Some(Arc::new(Says("return input.gone.deeper;", Mutex::default())));
    let more = json!({ "name": "third", "mapping_instructions": "go", "auto_map": true });
    let (text, _) = desk.create(more).await.unwrap();
    assert!(
        text.contains("The mapping that was written from words does not run, and was dropped:\nTypeError"),
        "{text}"
    );
    assert!(
        desk.text(&FOLDER.replace("orders", "third/third.ts")).contains("orderId: input.order_id"),
        "{text}"
    );
}

#[tokio::test]
async fn mappings_of_others_are_tried_too() {
    let desk = Desk::new(&[(
        "m/a.ts",
        "interface In { n: number; tags?: string[] }\ninterface Out { n: number; first: string }\nexport function mapFunction(input: In): Out {\n\treturn {}\n}\n",
    )]);
    let args = json!({ "dm_config_path": "m", "mapping": "return { n: input.n, first: input.tags[0] };" });
    let (text, _) = desk.call("generate_data_mapping", args).await.unwrap();
    assert!(text.contains("Tried on an example made from the input interface; the result is:\n{\n  \"n\": 1,\n  \"first\": \"tags\"\n}\nIt fits"), "{text}");
    assert!(text.contains("Without optional fields, and with empty lists, it stops, and so will the flow:\nTypeError: cannot read property '0' of undefined\n    at mapFunction (a.ts:4:"), "{text}");
    let error = desk
        .call("generate_data_mapping", json!({ "dm_config_path": "src", "mapping": "return {};" }))
        .await
        .unwrap_err();
    assert_eq!(error, "There is no data mapping in src: a .ts file with mapFunction.");
}

#[tokio::test]
async fn a_person_sees_what_would_be_written() {
    let desk = Desk::new(&[]);
    let args = json!({ "name": "orders", "input_schema": INPUT, "input_type": "JSON", "output_schema": OUTPUT, "output_type": "JSON", "mapping": MAPPING });
    let before = desk.all();
    let preview = desk.tool("create_data_mapper").preview(args.as_object().unwrap()).await.unwrap();
    let Preview::Diff { title, diff, removed, .. } = preview else { panic!("{preview:?}") };
    assert_eq!((title.as_str(), removed), ("data mapper orders", 0));
    assert!(diff.contains("orders.ts") && diff.contains("artifact.xml"), "{diff}");
    assert_eq!(desk.all(), before);

    desk.create(json!({})).await.unwrap();
    let args = json!({ "dm_config_path": FOLDER, "mapping": MAPPING });
    let preview = desk.tool("generate_data_mapping").preview(args.as_object().unwrap()).await.unwrap();
    let Preview::Diff { title, diff, .. } = preview else { panic!("{preview:?}") };
    assert_eq!(title, format!("{FOLDER}/orders.ts"));
    assert!(
        diff.contains("-    return {}\n") && diff.contains("+      orderId: input.order_id,\n"),
        "{diff}"
    );
}

#[tokio::test]
async fn of_several_projects_one_has_to_be_said() {
    let desk = Desk::new(&[("one/src/main/wso2mi/x.xml", ""), ("two/src/main/wso2mi/x.xml", "")]);
    desk.put("two/pom.xml", &POM.replace("4.4.0", "4.3.0"));
    fs::remove_dir_all(desk.path("src")).unwrap();
    fs::remove_file(desk.path("pom.xml")).unwrap();
    let before = desk.all();
    let error = desk.create(json!({})).await.unwrap_err();
    assert_eq!(error, "There are several projects here: one, two. Say project.");
    assert_eq!(desk.all(), before);
    desk.create(json!({ "project": "two" })).await.unwrap();
    // The version is that of the project that was said.
    assert!(desk.path("two/src/main/wso2mi/resources/registry/gov/datamapper/orders/orders.ts").is_file());
    desk.create(json!({ "project": "one" })).await.unwrap();
    assert!(desk.path("one/src/main/wso2mi/resources/datamapper/orders/orders.ts").is_file());
}

#[tokio::test]
async fn the_layout_of_integration_studio_gets_no_second_one() {
    let desk = Desk::new(&[("src/main/synapse-config/api/a.xml", "")]);
    fs::remove_dir_all(desk.path("src/main/wso2mi")).unwrap();
    let before = desk.all();
    let error = desk.create(json!({})).await.unwrap_err();
    assert!(
        error.starts_with("This project has the layout of Integration Studio (src/main/synapse-config), whose data mappers are"),
        "{error}"
    );
    assert_eq!(desk.all(), before);
}

#[tokio::test]
async fn a_mapper_is_found_by_its_name() {
    let desk = Desk::new(&[]);
    let (text, _) = desk
        .create(json!({ "input_schema": "{\"a\": 1}", "output_schema": "{\"a\": 1, \"b\": 2}", "auto_map": true }))
        .await
        .unwrap();
    assert!(text.contains("Mapped 1 field by its name. Not mapped:\n- b: "), "{text}");
    let named = json!({ "dm_config_path": "orders", "mapping": "return { a: input.a, b: 1 };" });
    let (text, _) = desk.call("generate_data_mapping", named.clone()).await.unwrap();
    assert!(text.starts_with(&format!("Wrote the mapping into {FOLDER}/orders.ts.\n")), "{text}");
    let old = FOLDER.replace("resources/", "resources/registry/gov/");
    desk.put(&format!("{old}/orders.ts"), "");
    let error = desk.call("generate_data_mapping", named).await.unwrap_err();
    assert_eq!(error, format!("There are several data mappers orders: say {FOLDER} or {old}."));
}
