//! Constructs that deploy although they look odd: none of them may get an error.
//!
//! Each line is one that a reader of the runtime takes without a word or with a warning. A finding that tells people
//! more about it is welcome, as long as it does not say that the artifact fails.

#![allow(clippy::expect_used, reason = "a case that is not well-formed stops the test")]

use synapse_lang::check::{self, Setting};
use synapse_lang::diagnostic::Severity;
use synapse_lang::syntax::Document;

const SYNAPSE: &str = "xmlns=\"http://ws.apache.org/ns/synapse\"";

/// The errors of a document, one in a line.
fn errors(text: &str) -> Vec<String> {
    let document = Document::parse(text.to_owned());
    assert!(document.problems().is_empty(), "the case is not well-formed: {text}");
    let found = check::check(&document, Setting::default()).into_iter();
    found
        .filter(|one| one.severity == Severity::Error)
        .map(|one| format!("{} {}", one.code, one.message))
        .collect()
}

#[track_caller]
fn deploy(cases: &[&str], wrap: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for case in cases {
        let found = errors(&wrap(case));
        if !found.is_empty() {
            wrong.push(format!("{case}\n    {}", found.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} get an error:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// Steps of a sequence.
#[track_caller]
fn steps(cases: &[&str]) {
    deploy(cases, |case| format!("<sequence {SYNAPSE} name=\"s\">{case}</sequence>"));
}

/// Kinds of an endpoint.
#[track_caller]
fn endpoints(cases: &[&str]) {
    deploy(cases, |case| format!("<endpoint {SYNAPSE} name=\"e\">{case}</endpoint>"));
}

/// Whole artifacts, with the namespace put in the place of the word.
#[track_caller]
fn artifacts(cases: &[&str]) {
    deploy(cases, |case| case.replacen("SYNAPSE", SYNAPSE, 1));
}

#[test]
fn flow() {
    steps(&[
        r#"<filter xpath="//a" source="" regex=""><drop/></filter>"#,
        r#"<filter source="boolean(//a)" regex="true"/>"#,
        r#"<filter source="//a" regex="b"><then/><else/></filter>"#,
        r#"<switch source="//a"/>"#,
        r#"<switch source="//a"><case regex=""/><default/></switch>"#,
        r#"<description>why</description><sequence key="{get-property('next')}"/><sequence name="inner"><log/></sequence>"#,
        r#"<call-template target="t"><with-param name="a" value=""/><with-param value="unnamed"/></call-template>"#,
        r#"<call-template target="t"><with-param name="later" value="{{//x}}"/></call-template>"#,
        r#"<in><log/></in><out><send/></out>"#,
        r#"<conditionalRouter continueAfter="yes"><conditionalRoute breakRoute="0"><condition><match xmlns="" type="url" regex="/a.*"/></condition><target sequence="s"/></conditionalRoute></conditionalRouter>"#,
        r#"<conditionalRouter><conditionalRoute asynchronous="true"><condition><and xmlns=""><equal type="header" source="h" value="v"/><not><equal type="param" source="p" value="v"/></not></and></condition><target sequence="s"/></conditionalRoute></conditionalRouter>"#,
        r#"<enqueue sequence="s" executor="e" priority=""/>"#,
        r#"<sampler rate="2" unitTime="1000"><messageQueue/><target sequence="s"/></sampler>"#,
        r#"<template name="inner"><parameter name="p"/><sequence><log/></sequence></template>"#,
    ]);
}

#[test]
fn properties() {
    steps(&[
        r#"<property name="j" type="JSON" value="{a: 'b'}"/>"#,
        r#"<property name="j" type="JSON" value="{broken"/>"#,
        r#"<property name="e" value="" scope="transport"/>"#,
        r#"<property name="{$ctx:name}" value="1"/>"#,
        r#"<property name="p" expression="//a" pattern="(.*)" group="1"/>"#,
        r#"<property name="x"><a xmlns=""/></property>"#,
        r#"<property name="NO_KEEPALIVE" value="true" type="BOOLEAN"/>"#,
        r#"<property name="all" expression="json-eval($.)"/>"#,
        r#"<property name="part" expression="json-eval($.order.)"/>"#,
        r#"<property name="gone" type="NUMBER" action="remove"/>"#,
        r#"<propertyGroup description="none yet"/>"#,
        r#"<header xmlns:w="urn:w" name="w:Security" action="remove"/><header><a xmlns="urn:a"/></header>"#,
        r#"<header name="Action" value="urn:a" scope="default"/><header name="X" scope="transport" action="remove"/>"#,
        r#"<log category="debug" level="custom" separator="|"><property name="a" expression="$ctx:b"/></log>"#,
    ]);
}

#[test]
fn transformations() {
    steps(&[
        r#"<payloadFactory media-type="xml" template-type="FreeMarker"><format><![CDATA[<a>${payload.b}</a>]]></format><args/></payloadFactory>"#,
        r#"<payloadFactory media-type="json"><format/></payloadFactory>"#,
        r#"<payloadFactory><format key="conf:format.xml"/></payloadFactory>"#,
        r#"<payloadFactory media-type="json"><format>$1</format><args><arg evaluator="json" expression="json-eval($.)"/><arg evaluator="json" expression="$."/></args></payloadFactory>"#,
        r#"<payloadFactory media-type="json"><format>$1 $2</format><args><arg evaluator="json" expression="$.a."/><arg evaluator="json" expression="json-eval($.a.)"/></args></payloadFactory>"#,
        r#"<enrich><source type="key"/><target type="body"/></enrich>"#,
        r#"<enrich><source xpath="json-eval($.a[*].b,$.c[0])"/><target type="body" action="remove"/></enrich>"#,
        r#"<enrich><source type="inline" key="k"/><target xpath="//a"/></enrich>"#,
        r#"<enrich><source type="property" property="p"/><target type="envelope"/></enrich>"#,
        r#"<enrich><source type="inline">text</source><target type="key" xpath="json-eval($.a)"/></enrich>"#,
        r#"<jsontransform><property name="a" expression="$ctx:x"/></jsontransform>"#,
        r#"<makefault version="pox"/>"#,
        r#"<makefault><code xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" value="s:Server"/><reason value=""/><role/><detail/></makefault>"#,
        r#"<makefault version="soap12" response="false"><code expression="//c"/><reason expression="//r"/><detail><d xmlns=""/></detail></makefault>"#,
        r#"<rewrite><rewriterule><condition><equal xmlns="" type="url" source="host" value="a"/></condition><action type="remove" fragment="ref"/><action xpath="//a"/></rewriterule></rewrite>"#,
        r#"<xquery key="q" target=""><variable name="a"/><variable type="INT" name="b" value="1"/></xquery>"#,
        r#"<xslt key="{//k}"><property name="p" expression="//a"/><feature name="f" value="false"/><resource location="l" key="k"/></xslt>"#,
        r#"<smooks config-key="k"><input type="text"/><output type="xml"/></smooks>"#,
    ]);
}

#[test]
fn splitting() {
    steps(&[
        r#"<foreach collection="" expression="//a"><sequence/></foreach>"#,
        r#"<foreach id="f" expression="json-eval($.a)" sequence="s"/>"#,
        r#"<iterate expression="json-eval($.)" preservePayload="true" attachPath="json-eval($.)"><target to="http://h" soapAction="urn:a" sequence="s"><sequence/></target></iterate>"#,
        r#"<clone continueParent="yes"><target endpoint="e"/><target to="http://h"><sequence><send/></sequence></target></clone><clone iterations="{//n}"><target sequence="s"/></clone>"#,
        r#"<aggregate/><aggregate id="a"><correlateOn/><completeCondition/><onComplete expression="//a"/></aggregate>"#,
        r#"<aggregate><completeCondition timeout="5"><messageCount min="{//n}" max="-1"/></completeCondition><onComplete expression="//a" sequence="s"/></aggregate>"#,
    ]);
}

#[test]
fn guards_and_data() {
    steps(&[
        r#"<entitlementService callbackClass="a.B" remoteServiceUrlKey="u" remoteServiceUserNameKey="n" remoteServicePasswordKey="p"><onReject/><onAccept/></entitlementService>"#,
        r#"<entitlementService callbackClass="a.B"/>"#,
        r#"<cache id="c" scope="per-host" collector="false" hashGenerator="a.B" timeout="20"><onCacheHit sequence="s"/><implementation type="memory" maxSize="10"/><implementation type="disk"/></cache>"#,
        r#"<throttle id="t" onReject="r"><policy><p:Policy xmlns:p="urn:p"/></policy><onAccept/></throttle>"#,
        r#"<validate cache-schema="false"><schema key="{//k}"/><resource location="l" key="k"/><feature name="f" value="true"/><on-fail><drop/></on-fail></validate>"#,
        r#"<dataServiceCall serviceName="D"><source type="INLINE"/><operations type="request-box"><operation name="a"><param value="1"/></operation><operations type="batch"><operation/></operations></operations><target type="property" name="{$ctx:n}"/></dataServiceCall>"#,
        r#"<dataServiceCall serviceName="D"><source type="other"/></dataServiceCall>"#,
        r#"<dblookup><connection><pool><dsName>d</dsName></pool></connection></dblookup>"#,
        r#"<dbreport><connection><pool><driver key="a"/><url key="b"/><user key="c"/><password key="d"/></pool></connection><statement><sql>insert</sql><parameter type="INTEGER"/></statement></dbreport>"#,
    ]);
}

#[test]
fn extensions_and_sending() {
    steps(&[
        r#"<spring:spring xmlns:spring="http://ws.apache.org/ns/synapse" bean="b" key="k"/>"#,
        r#"<rule xmlns="http://wso2.org/carbon/rules"><source>$body</source><ruleSet><rule/></ruleSet></rule>"#,
        r#"<bean action="get_property" var="v" property="p" target="t"/><bean action="REMOVE" var="v"/>"#,
        r#"<ejb beanstalk="b" class="a.B" stateful="true" id="{//i}" remove="true"/>"#,
        r#"<script language="js"/><script language="groovy" key="{//k}"><include key="i"/></script>"#,
        r#"<pojoCommand name="a.B"><property name="p" expression="//a" action="ReadMessage"/></pojoCommand>"#,
        r#"<publishEvent><eventSink>s</eventSink><attributes><meta/><payload><attribute name="a" type="INTEGER" defaultValue=""/></payload></attributes></publishEvent>"#,
        r#"<callout><endpoint key="e"/><source type="envelope"/><target key="k"/></callout>"#,
        r#"<call><source type="inline" contentType="application/json">{"a": 1}</source><target type="property">p</target><endpoint key="e"/></call>"#,
        r#"<send receive="{//r}"><endpoint key-expression="//e"/></send>"#,
        r#"<call><source type="other"/><target type="property"/><endpoint key="e"/></call>"#,
        r#"<call><source type="property"/><target type="variable"/></call>"#,
        r#"<builder class="a.B" formatterClass="a.F"/><builder/>"#,
        r#"<store messageStore="{get-property('store')}" sequence="s"/>"#,
        r#"<file.read configKey="c"><path>{json-eval($.)}</path></file.read>"#,
    ]);
}

#[test]
fn endpoint_kinds() {
    endpoints(&[
        r#"<address format="soap12" optimize="" encoding=""><enableAddressing version="submission"/><enableRM policy="p"/></address>"#,
        r#"<recipientlist><endpoints value="{//list}" max-cache="many"/></recipientlist>"#,
        r#"<recipientlist><endpoint><address uri="http://a"/></endpoint><endpoint key="b"/></recipientlist><property name="a" value="b" scope="axis2"/>"#,
        r#"<loadbalance policy="roundRobin" failover="false"><member hostName="h" httpPort="80" httpsPort=""/></loadbalance><session type="SOAP"/>"#,
        r#"<dynamicLoadbalance failover="true"><membershipHandler class="a.B"><property name="p" value="v"/></membershipHandler></dynamicLoadbalance>"#,
        r#"<wsdl service="s" port="p"><definitions xmlns="http://schemas.xmlsoap.org/wsdl/"><types/></definitions></wsdl>"#,
        r#"<failover dynamic="no"><endpoint><address uri="http://a"><timeout><duration>{//d}</duration><responseAction>Discard</responseAction></timeout><markForSuspension><errorCodes>-1, 101500</errorCodes></markForSuspension></address></endpoint></failover>"#,
        r#"<http uri-template="http://h" method="other"><authentication><oauth><clientCredentials><clientId>a</clientId><clientSecret>b</clientSecret><tokenUrl>http://t</tokenUrl></clientCredentials></oauth></authentication></http>"#,
    ]);
}

#[test]
fn tasks_stores_and_other_artifacts() {
    artifacts(&[
        r#"<task SYNAPSE name="t" class="a.B"><trigger cron="0 0 * * * ?" interval="0" count="-1"/></task>"#,
        r#"<task SYNAPSE name="t" class="a.B"><trigger once="true" count="5"/><property xmlns:task="urn:t" name="m"><a xmlns=""/></property></task>"#,
        r#"<task SYNAPSE name="t"><trigger interval="$SYSTEM:pause" count="$FILE:times"/></task>"#,
        r#"<task SYNAPSE name="t" class="a.B"/>"#,
        r#"<messageStore SYNAPSE name="m" class="a.B"><parameter name="a" expression="//x"/><parameter name="b" key="k"/><parameter name="c"/></messageStore>"#,
        r#"<messageProcessor SYNAPSE name="p" class="a.B" messageStore="m"><description/></messageProcessor>"#,
        r#"<inboundEndpoint SYNAPSE name="i" class="a.B" interval="5"><parameters><parameter>unnamed</parameter><parameter name="keystore"><KeyStore><Location>l</Location></KeyStore></parameter></parameters></inboundEndpoint>"#,
        r#"<localEntry SYNAPSE key="k"><![CDATA[5]]><description/></localEntry>"#,
        r#"<api SYNAPSE name="a" context="/a" version="" version-type="" transports="" port="" hostname=""><resource methods="GET POST" url-mapping="/*" uri-template="" protocol="" inSequence="" faultSequence="f"/></api>"#,
        r#"<proxy SYNAPSE name="p" transports="http,https" startOnLoad="TRUE"><target endpoint="e" faultSequence="f"/><publishWSDL><description xmlns="http://www.w3.org/ns/wsdl"/></publishWSDL><enableSec/></proxy>"#,
        r#"<template SYNAPSE name="t"><parameter name="d"/><endpoint name="$name"><http uri-template="$uri" version="$v"><timeout><duration>$d</duration><responseAction>$a</responseAction></timeout></http></endpoint></template>"#,
        r#"<endpoint SYNAPSE name="e" template="t" uri="http://h"><x:parameter xmlns:x="http://ws.apache.org/ns/synapse" name="d" value="{//d}"/></endpoint>"#,
        r#"<definitions SYNAPSE><registry provider="a.B"/><taskManager provider="a.T"/><eventSource name="e"><subscriptionManager class="a.S"/></eventSource><priority-executor name="x"><queues><queue size="1" priority="1"/></queues></priority-executor><import name="n" package="p"/><log/><sequence name="main"><in/></sequence></definitions>"#,
        r#"<syn:sequence xmlns:syn="http://ws.apache.org/ns/synapse" name="s"><syn:log level="full"/></syn:sequence>"#,
    ]);
}

#[test]
fn data_services_and_tests() {
    artifacts(&[
        r#"<data name="d"><config><property name="xa"><property name="URL">u</property></property></config><query id="q"><scraperVariable>v</scraperVariable><param name="a" type="" paramType=""/><param type="OUT"/></query><query id="q"/><operation name="o"><call-query href="q"><with-param query-param="a"/></call-query></operation><operation name="o"/></data>"#,
        r#"<data name="d"><config id="c" enableOData="true"><property>unnamed</property></config><query id="q" useConfig="c"><sql>select 1</sql><result element="e"><attribute column="c"/></result></query><resource method="PATCH" path="p"><call-query href="q"/></resource><enableSec/><policy/></data>"#,
        r#"<datasource><name>n</name><definition type="RDBMS"><configuration/></definition></datasource>"#,
        r#"<artifacts><artifact name="a" version="1" type="registry/resource"><item><file>f</file></item><collection><directory>d</directory></collection></artifact></artifacts>"#,
        r#"<unit-test><artifacts><test-artifact><artifact>a.xml</artifact></test-artifact></artifacts><test-cases><test-case name="t"><input/><assertions><assertNotNull><actual>$trp:x</actual></assertNotNull></assertions></test-case></test-cases><mock-services/></unit-test>"#,
        r#"<unit-test><artifacts><test-artifact><artifact>a.xml</artifact></test-artifact></artifacts><test-cases><test-case><input><properties><property name="a"/></properties></input></test-case></test-cases></unit-test>"#,
        r#"<mock-service><service-name>s</service-name><port>9090</port><context>/c</context><resources><resource><response><status-code>200</status-code></response></resource></resources></mock-service>"#,
    ]);
}

#[test]
fn what_fails_is_still_an_error() {
    for case in [
        r#"<property name="n" type="INTEGER" value="ten"/>"#,
        r#"<jsontransform><property name="a"/></jsontransform>"#,
        r#"<payloadFactory><format>text</format></payloadFactory>"#,
        r#"<property name="p" expression="json-eval($..)"/>"#,
        r#"<enqueue sequence="" executor="e"/>"#,
        r#"<filter source="" regex="a"/>"#,
        r#"<property name="NO_KEEPALIVE" value="true" type="BOOLEAN" scope="axis2"/>"#,
    ] {
        let found = errors(&format!("<sequence {SYNAPSE} name=\"s\">{case}</sequence>"));
        assert!(!found.is_empty(), "{case} gets no error");
    }
}
