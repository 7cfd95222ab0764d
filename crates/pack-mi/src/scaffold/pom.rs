//! The build file of a new project.

use std::fmt::Write;

use synapse_lang::model::Version;
use synapse_lang::syntax::escape_text;

use super::NewProject;
use crate::connectors::snapshot;
use crate::pom::{self, Connector};

/// The plugin that packs a project, as projects of today use it.
const CAR_PLUGIN: &str = "5.4.16";
/// The plugin that runs unit tests.
const TEST_PLUGIN: &str = "5.4.15";
/// The runtime from which on applications can be deployed side by side.
const VERSIONED: Version = Version::new(4, 5, 0);

/// The text of the build file.
pub(super) fn text(project: &NewProject) -> String {
    let text = TEMPLATE
        .replace("@GROUP@", &escape_text(&project.group))
        .replace("@NAME@", &escape_text(&project.name))
        .replace("@VERSION@", &escape_text(&project.version))
        .replace("@REPOSITORIES@", &repositories(&project.repositories))
        .replace("@PROPERTIES@", &properties(project));
    // Newer runtimes reach HTTP services by the connector.
    let http = snapshot::all().iter().find(|one| one.name == "http" && one.has_coordinates);
    let added = http.filter(|_| project.runtime >= Version::EXPRESSIONS).and_then(|http| {
        let connector = Connector::new(&*http.group, &*http.artifact, http.version.clone()?);
        pom::add(&text, &connector).ok().flatten()
    });
    added.unwrap_or(text)
}

fn properties(project: &NewProject) -> String {
    let image = format!("{}:{}", project.name.to_lowercase(), project.version);
    let runtime = project.runtime.to_string();
    let mut rows: Vec<(&str, &str)> = vec![("projectType", "integration-project")];
    if !project.id.is_empty() {
        rows.push(("uuid", &project.id));
    }
    if project.runtime >= VERSIONED {
        rows.push(("versionedDeployment", "false"));
    }
    rows.extend([
        ("keystore.type", "JKS"),
        ("keystore.name", "wso2carbon.jks"),
        ("keystore.password", "wso2carbon"),
        ("keystore.alias", "wso2carbon"),
        ("fat.car.enable", "false"),
        ("ciphertool.enable", "true"),
        ("maven.compiler.source", "1.8"),
        ("maven.compiler.target", "1.8"),
        ("project.scm.id", "integration-project"),
        ("project.runtime.version", &runtime),
        ("dockerfile.base.image", "wso2/wso2mi:${project.runtime.version}"),
        ("dockerfile.name", &image),
        ("car.plugin.version", CAR_PLUGIN),
        ("unit.test.plugin.version", TEST_PLUGIN),
        ("test.server.type", "local"),
        ("test.server.host", "localhost"),
        ("test.server.port", "9008"),
        ("test.server.path", "/"),
        ("test.server.version", "${project.runtime.version}"),
        ("test.server.download.link", ""),
        ("maven.test.skip", "false"),
    ]);
    let mut text = String::new();
    for (name, value) in rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "        <{name}>{}</{name}>", escape_text(value));
    }
    text
}

/// Where the build looks for connectors and plugins.
fn repositories(addresses: &[String]) -> String {
    if addresses.is_empty() {
        return "    <!-- Repositories that have WSO2's plugins and connectors belong into Maven's settings, or here. -->\n".to_owned();
    }
    let list = |outer: &str, inner: &str| {
        let mut text = format!("    <{outer}>\n");
        for (index, address) in addresses.iter().enumerate() {
            let _ = write!(
                text,
                "        <{inner}>\n            <id>repository-{}</id>\n            <url>{}</url>\n        </{inner}>\n",
                index + 1,
                escape_text(address)
            );
        }
        let _ = writeln!(text, "    </{outer}>");
        text
    };
    format!("{}{}", list("repositories", "repository"), list("pluginRepositories", "pluginRepository"))
}

const TEMPLATE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 https://maven.apache.org/xsd/maven-4.0.0.xsd">
    <modelVersion>4.0.0</modelVersion>
    <groupId>@GROUP@</groupId>
    <artifactId>@NAME@</artifactId>
    <version>@VERSION@</version>
    <packaging>pom</packaging>
    <name>@NAME@</name>
    <description>@NAME@</description>
    <properties>
@PROPERTIES@    </properties>
@REPOSITORIES@    <build>
        <plugins>
            <plugin>
                <groupId>org.wso2.maven</groupId>
                <artifactId>synapse-unit-test-maven-plugin</artifactId>
                <version>${unit.test.plugin.version}</version>
                <executions>
                    <execution>
                        <id>synapse-unit-test</id>
                        <phase>test</phase>
                        <goals>
                            <goal>synapse-unit-test</goal>
                        </goals>
                    </execution>
                </executions>
                <configuration>
                    <server>
                        <testServerType>${server.type}</testServerType>
                        <testServerHost>${server.host}</testServerHost>
                        <testServerPort>${server.port}</testServerPort>
                        <testServerPath>${server.path}</testServerPath>
                        <testServerVersion>${server.version}</testServerVersion>
                        <testServerDownloadLink>${server.download.link}</testServerDownloadLink>
                    </server>
                    <testCasesFilePath>${project.basedir}/src/test/wso2mi/${testFile}</testCasesFilePath>
                    <mavenTestSkip>${maven.test.skip}</mavenTestSkip>
                </configuration>
            </plugin>
        </plugins>
    </build>
    <profiles>
        <profile>
            <id>default</id>
            <activation>
                <activeByDefault>true</activeByDefault>
            </activation>
            <build>
                <plugins>
                    <plugin>
                        <groupId>org.apache.maven.plugins</groupId>
                        <artifactId>maven-dependency-plugin</artifactId>
                        <version>3.5.0</version>
                        <executions>
                            <execution>
                                <phase>process-resources</phase>
                                <goals>
                                    <goal>copy-dependencies</goal>
                                </goals>
                                <configuration>
                                    <outputDirectory>${basedir}/deployment/libs</outputDirectory>
                                    <excludeTransitive>true</excludeTransitive>
                                    <!-- The runtime has these already. -->
                                    <excludeGroupIds>org.apache.synapse,org.apache.axis2</excludeGroupIds>
                                    <excludeTypes>zip,car</excludeTypes>
                                </configuration>
                            </execution>
                        </executions>
                    </plugin>
                    <plugin>
                        <groupId>org.apache.maven.plugins</groupId>
                        <artifactId>maven-jar-plugin</artifactId>
                        <configuration>
                            <skipIfEmpty>true</skipIfEmpty>
                        </configuration>
                        <executions>
                            <execution>
                                <id>default-jar</id>
                                <phase>compile</phase>
                                <goals>
                                    <goal>jar</goal>
                                </goals>
                            </execution>
                        </executions>
                    </plugin>
                    <plugin>
                        <groupId>org.wso2.maven</groupId>
                        <artifactId>vscode-car-plugin</artifactId>
                        <version>${car.plugin.version}</version>
                        <extensions>true</extensions>
                        <executions>
                            <execution>
                                <phase>compile</phase>
                                <goals>
                                    <goal>car</goal>
                                </goals>
                            </execution>
                        </executions>
                    </plugin>
                </plugins>
            </build>
            <properties>
                <server.type>${test.server.type}</server.type>
                <server.host>${test.server.host}</server.host>
                <server.port>${test.server.port}</server.port>
                <server.path>${test.server.path}</server.path>
                <server.version>${test.server.version}</server.version>
                <server.download.link>${test.server.download.link}</server.download.link>
            </properties>
        </profile>
        <profile>
            <id>test</id>
            <properties>
                <server.type>${testServerType}</server.type>
                <server.host>${testServerHost}</server.host>
                <server.port>${testServerPort}</server.port>
                <server.path>${testServerPath}</server.path>
            </properties>
        </profile>
    </profiles>
</project>
"#;
