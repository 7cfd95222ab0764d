//! What Maven prints, and what is made of it.

#![allow(clippy::disallowed_methods, reason = "tests make the build files that are read")]

use std::path::Path;

use super::MavenLog;

fn check(printed: &str, expected: &[&str]) {
    let mut log = MavenLog::new(Path::new("/p"));
    printed.lines().for_each(|line| log.line(line));
    let found: Vec<String> =
        log.findings().iter().map(|finding| format!("{:?} {finding}", finding.kind)).collect();
    assert_eq!(found, expected, "{printed}");
}

#[test]
fn errors_of_the_compiler_have_a_place_and_are_told_once() {
    check(
        "[ERROR] COMPILATION ERROR : \n\
         [INFO] ----\n\
         [ERROR] /p/src/main/java/com/acme/X.java:[4,3] cannot find symbol\n  symbol:   class Foo\n  location: class com.acme.X\n\
         [ERROR] /p/src/main/java/com/acme/X.java:[3,20] incompatible types: java.lang.String cannot be converted to int\n\
         [INFO] 2 errors \n\
         [INFO] BUILD FAILURE\n\
         [ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.10.1:compile (c) on project orders: Compilation failure: Compilation failure: \n\
         [ERROR] /p/src/main/java/com/acme/X.java:[4,3] cannot find symbol\n\
         [ERROR]   symbol:   class Foo\n\
         [ERROR]   location: class com.acme.X\n\
         [ERROR] /p/src/main/java/com/acme/X.java:[3,20] incompatible types: java.lang.String cannot be converted to int\n\
         [ERROR] -> [Help 1]\n\
         [ERROR] \n\
         [ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.\n",
        &[
            "Compile src/main/java/com/acme/X.java:4:3: cannot find symbol; symbol:   class Foo; location: class com.acme.X",
            "Compile src/main/java/com/acme/X.java:3:20: incompatible types: java.lang.String cannot be converted to int",
        ],
    );
}

#[test]
fn build_files_have_a_place() {
    check(
        "[ERROR] [ERROR] Some problems were encountered while processing the POMs:\n\
         [FATAL] Non-parseable POM /p/pom.xml: Unrecognised tag: 'a' (position: START_TAG seen <project>\\n<a>... @2:4)  @ line 2, column 4\n\
         [ERROR] The build could not read 1 project -> [Help 1]\n\
         [ERROR]   \n\
         [ERROR]   The project  (/p/pom.xml) has 1 error\n\
         [ERROR]     Non-parseable POM /p/pom.xml: Unrecognised tag: 'a' (position: START_TAG seen <project>\\n<a>... @2:4)  @ line 2, column 4 -> [Help 2]\n",
        &["Pom pom.xml:2:4: Unrecognised tag: 'a'"][..],
    );
    check(
        "[ERROR]   The project com.acme:orders:1.0.0 (/p/sub/pom.xml) has 1 error\n\
         [ERROR]     'dependencies.dependency.version' for org.x:y:jar is missing. @ line 12, column 17\n",
        &["Pom sub/pom.xml:12:17: 'dependencies.dependency.version' for org.x:y:jar is missing."],
    );
    check(
        "[ERROR] 'build.plugins.plugin.version' is wrong. @ com.acme:orders:[unknown-version], /p/pom.xml, line 7, column 9\n",
        &["Pom pom.xml:7:9: 'build.plugins.plugin.version' is wrong."],
    );
}

#[test]
fn what_is_not_to_be_had_is_named() {
    check(
        "[ERROR] Failed to execute goal on project orders: Could not resolve dependencies for project com.acme:orders:pom:1.0.0: Could not find artifact org.wso2.integration.connector:mi-connector-http:zip:0.1.8 in central (file:///repo) -> [Help 1]\n",
        &["Dependency org.wso2.integration.connector:mi-connector-http:zip:0.1.8 was found in no repository"],
    );
    check(
        "[ERROR] Failed to execute goal on project orders: Could not resolve dependencies for project com.acme:orders:pom:1.0.0: Cannot access central (file:///repo) in offline mode and the artifact org.x:y:jar:1.0 has not been downloaded from it before. -> [Help 1]\n",
        &["Offline org.x:y:jar:1.0 is not in Maven's local repository, and the build is offline"],
    );
    check(
        "[ERROR] Plugin org.wso2.maven:vscode-car-plugin:5.4.16 or one of its dependencies could not be resolved: Could not find artifact org.wso2.maven:vscode-car-plugin:jar:5.4.16 in central (file:///repo) -> [Help 1]\n",
        &[
            "Plugin org.wso2.maven:vscode-car-plugin:jar:5.4.16 was found in no repository (it is a plugin of Maven)",
        ],
    );
    check(
        "[ERROR] Plugin org.wso2.maven:vscode-car-plugin:5.4.16 or one of its dependencies could not be resolved: Cannot access central (file:///repo) in offline mode and the artifact org.codehaus.plexus:plexus-utils:jar:1.1 has not been downloaded from it before. -> [Help 1]\n",
        &[
            "Offline org.codehaus.plexus:plexus-utils:jar:1.1 is not in Maven's local repository, and the build is offline (the plugin org.wso2.maven:vscode-car-plugin:5.4.16 needs it)",
        ],
    );
    check(
        "[ERROR] Failed to execute goal on project o: Could not resolve dependencies for project a:o:pom:1: The following artifacts could not be resolved: a:b:zip:1, c:d:jar:2: Could not transfer artifact a:b:zip:1 from/to central (file:///repo): Connection refused -> [Help 1]\n",
        &[
            "Dependency a:b:zip:1 could not be downloaded: Connection refused",
            "Dependency c:d:jar:2 could not be downloaded: Connection refused",
        ],
    );
}

#[test]
fn java_that_does_not_fit_is_told_as_such() {
    check(
        "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.10.1:compile (c) on project orders: Fatal error compiling: error: invalid target release: 25 -> [Help 1]\n",
        &["Jdk invalid target release: 25"],
    );
    check(
        "[ERROR] Failed to execute goal o.a:maven-compiler-plugin:3.10.1:compile (c) on project orders: Fatal error compiling: error: release version 25 not supported -> [Help 1]\n",
        &["Jdk release version 25 not supported"],
    );
    check(
        "The JAVA_HOME environment variable is not defined correctly,\nthis environment variable is needed to run this program.\n",
        &[
            "NoJava The JAVA_HOME environment variable is not defined correctly, this environment variable is needed to run this program.",
        ],
    );
    check(
        "[ERROR] No compiler is provided in this environment. Perhaps you are running on a JRE rather than a JDK?\n",
        &[
            "NoJava No compiler is provided in this environment. Perhaps you are running on a JRE rather than a JDK?",
        ],
    );
}

#[test]
fn java_that_is_not_there_is_no_matter_of_the_build_file() {
    check(
        "Error: JAVA_HOME is not defined correctly.\n  We cannot execute /nothing/bin/java\n",
        &["NoJava JAVA_HOME is not defined correctly. We cannot execute /nothing/bin/java"],
    );
    check(
        "The java/javac command does not exist in PATH nor is JAVA_HOME set, so mvnw cannot run.\n",
        &["NoJava The java/javac command does not exist in PATH nor is JAVA_HOME set, so mvnw cannot run."],
    );
    let help = super::Kind::NoJava.help(true).unwrap();
    assert!(help.contains("mi.java_home") && !help.contains("source and target"), "{help}");
}

#[test]
fn a_wrapper_that_cannot_download_maven_is_told_as_such() {
    check(
        "wget: unable to resolve host address 'example.org'\n",
        &["Wrapper wget: unable to resolve host address 'example.org'"],
    );
    check(
        "Exception in thread \"main\" java.net.UnknownHostException: example.org\n\tat java.base/sun.nio.ch.X.y(X.java:1)\n",
        &["Wrapper Exception in thread \"main\" java.net.UnknownHostException: example.org"],
    );
}

#[test]
fn xml_that_a_plugin_reads_has_a_place() {
    check(
        "[ERROR] Error occurred while processing /p/src/main/wso2mi/artifacts/apis/A.xml\n\
         javax.xml.stream.XMLStreamException: ParseError at [row,col]:[5,3]\nMessage: The element type \"log\" must be terminated\n",
        &[
            "Xml src/main/wso2mi/artifacts/apis/A.xml:5:3: Error occurred while processing /p/src/main/wso2mi/artifacts/apis/A.xml; The element type \"log\" must be terminated",
        ],
    );
    check(
        "[ERROR] org.xml.sax.SAXParseException; systemId: file:/p/src/a.xml; lineNumber: 7; columnNumber: 9; Content is not allowed in prolog.\n",
        &["Xml src/a.xml:7:9: Content is not allowed in prolog."],
    );
}

#[test]
fn a_goal_that_fails_is_told_when_nothing_else_says_why() {
    check(
        "[ERROR] Failed to execute goal org.wso2.maven:vscode-car-plugin:5.4.16:car (car) on project orders: Failed to bundle data mapper: npm is not found -> [Help 1]\n\
         [ERROR] \n[ERROR] Re-run Maven using the -X switch to enable full debug logging.\n",
        &["Goal vscode-car-plugin: Failed to bundle data mapper: npm is not found"],
    );
    check(
        "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n\
         [ERROR]   OrderTest.adds:12 expected:<2> but was:<3>\n",
        &[
            "Test Tests run: 2, Failures: 1, Errors: 0, Skipped: 0; OrderTest.adds:12 expected:<2> but was:<3>",
        ],
    );
}

#[test]
fn how_it_ended_and_the_last_lines_are_kept() {
    let mut log = MavenLog::new(Path::new("/p"));
    for number in 0..100 {
        log.line(&format!("[INFO] line {number}"));
    }
    log.line("[INFO] BUILD SUCCESS");
    assert_eq!(log.succeeded(), Some(true));
    assert_eq!(
        (log.last().len(), log.last()[0], log.last()[29]),
        (30, "[INFO] line 71", "[INFO] BUILD SUCCESS")
    );
}

#[test]
fn garbage_and_floods_are_bounded() {
    let mut log = MavenLog::new(Path::new("/p"));
    for number in 0..5_000 {
        log.line(&format!("[ERROR] /p/A.java:[{number},1] {}", "x".repeat(3_000)));
        log.line("[ERROR] :[,] :[1,] [row,col]:[ Could not find artifact ::: ä");
    }
    assert!(log.findings().len() <= 200);
    assert!(log.findings().iter().all(|finding| finding.message.len() < 1_100));
}

#[test]
fn repositories_that_are_not_there_are_not_pointed_to() {
    let folder = tempfile::tempdir().unwrap();
    let findings = [super::Finding::new(super::Kind::Offline, "a:b:1 is not here")];
    for (pom, expected) in [
        ("<project/>", "pom.xml names no repositories: add one to pom.xml"),
        ("<project><repositories/></project>", "pom.xml names no repositories: add one to pom.xml"),
        (
            "<project><repositories><repository/></repositories></project>",
            "the hosts of the repositories in pom.xml",
        ),
        (
            "<project><pluginRepositories><x/></pluginRepositories></project>",
            "the hosts of the repositories in pom.xml",
        ),
    ] {
        std::fs::write(folder.path().join("pom.xml"), pom).unwrap();
        let lines = super::told(&findings, 10, folder.path());
        assert_eq!(lines.len(), 2);
        assert!(lines[1].contains(expected), "{pom}: {lines:?}");
    }
}
