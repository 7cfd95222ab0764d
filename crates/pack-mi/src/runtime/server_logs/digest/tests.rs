//! Logs, and the report of them.

use super::super::entry::entries;
use super::*;

#[test]
fn what_repeats_is_told_once_with_its_cause_and_its_place() {
    let log = "\
[2026-05-12 10:20:28,100]  INFO {CappDeployer} - Deploying Carbon Application : orders_1.0.0.car...
[2026-05-12 10:20:28,456]  INFO {CappDeployer} - Successfully Deployed Carbon Application : orders_1.0.0
[2026-05-12 10:20:30,456] ERROR {ClassMediator} - {api:Orders POST /orders} Error for order 17 org.apache.synapse.SynapseException: it failed
\tat org.apache.synapse.mediators.ext.ClassMediator.mediate(ClassMediator.java:87)
Caused by: java.lang.NumberFormatException: For input string: \"17\"
\tat java.base/java.lang.Integer.parseInt(Integer.java:652)
\tat com.acme.Pricing.price(Pricing.java:57)
\tat com.acme.Pricing.mediate(Pricing.java:42)
[2026-05-12 10:20:31,000] ERROR {ClassMediator} - {api:Orders POST /orders} Error for order 18 org.apache.synapse.SynapseException: it failed
Caused by: java.lang.NumberFormatException: For input string: \"18\"
\tat com.acme.Pricing.price(Pricing.java:57)
[2026-05-12 10:21:00,000]  WARN {ConnectCallback} - Connection refused or failed for : localhost/127.0.0.1:9000
[2026-05-12 10:21:01,000] ERROR {StartupFinalizer} - bundle 5f3e8a9b-1111-2222-3333-444455556666 is missing
";
    let sources = Sources::of(&[
        (
            "src/main/wso2mi/artifacts/apis/Orders.xml",
            "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/orders\">\n<resource methods=\"POST\">\n<inSequence>\n<class name=\"com.acme.Pricing\"/>\n</inSequence></resource></api>",
        ),
        ("src/main/java/com/acme/Pricing.java", ""),
    ]);
    assert_eq!(
        digest(&entries(log), Some(&sources), 1),
        "\
Deployments:
  orders_1.0.0: deployed at 10:20:28
3 errors, 2 different:
api Orders:
  ×2 10:20:30–10:20:31 ClassMediator Error for order 17
    cause: java.lang.NumberFormatException: For input string: \"17\"
    at com.acme.Pricing.price(Pricing.java:57)
    places: src/main/java/com/acme/Pricing.java:57 (Pricing.price); src/main/wso2mi/artifacts/apis/Orders.xml:4 (class com.acme.Pricing)
the server:
  10:21:01 StartupFinalizer bundle 5f3e8a9b-1111-2222-3333-444455556666 is missing
1 warning:
the server:
  10:21:00 ConnectCallback Connection refused or failed for : localhost/127.0.0.1:9000
6 entries from 2026-05-12 10:20:28,100 to 2026-05-12 10:21:01,000, 2 of them only inform."
    );
}

#[test]
fn the_last_word_about_an_archive_counts_and_failures_have_their_innermost_cause() {
    let log = "\
[2026-05-12 10:20:28,456]  INFO {CappDeployer} - Successfully Deployed Carbon Application : orders_1.0.0
[2026-05-12 10:22:28,456] ERROR {CappDeployer} - Error occurred while deploying the Carbon application: orders_1.0.0.car. Reverting successfully deployed artifacts in the CApp. org.apache.axis2.deployment.DeploymentException: API Deployment from the file : /s/Orders_1.0.0/Orders-1.0.0.xml : Failed.
\tat org.apache.synapse.deployers.AbstractSynapseArtifactDeployer.deploy(AbstractSynapseArtifactDeployer.java:226)
Caused by: org.apache.synapse.SynapseException: Unknown mediator referenced by configuration element : {http://ws.apache.org/ns/synapse}event
\tat org.apache.synapse.config.xml.MediatorFactoryFinder.getMediator(MediatorFactoryFinder.java:246)
[2026-05-12 10:22:29,000]  WARN {ApplicationManager} - No artifacts found to be deployed in this server. Ignoring Carbon Application : bill_2.1.0.car
";
    let sources = Sources::of(&[(
        "src/main/wso2mi/artifacts/apis/Orders.xml",
        "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/orders\">\n<resource methods=\"POST\">\n<inSequence>\n<event topic=\"a\"/>\n</inSequence></resource></api>",
    )]);
    assert_eq!(
        digest(&entries(log), Some(&sources), 3),
        "\
Deployments:
  bill_2.1.0: ignored at 10:22:29, there is nothing in it for this server
  orders_1.0.0: FAILED at 10:22:28: Unknown mediator referenced by configuration element : {http://ws.apache.org/ns/synapse}event
    place: src/main/wso2mi/artifacts/apis/Orders.xml:4 (event)
3 entries from 2026-05-12 10:20:28,456 to 2026-05-12 10:22:29,000, 1 of them only inform."
    );
}
