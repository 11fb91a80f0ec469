package stacks_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// functions are all Lambda functions of the deployment by logical id.
func functions() map[string]*resource {
	all := map[string]*resource{}
	for _, part := range full.parts {
		_, found := part.all("AWS::Lambda::Function")
		for id, r := range found {
			all[id] = r
		}
	}
	return all
}

func TestFunctionsAreSmallTracedAndInTime(t *testing.T) {
	t.Parallel()
	roles := map[string]bool{}
	memory := map[string]float64{"PerpDiscoverFunction": 3538} // MB: columns of a million traders, and two cores
	for id, f := range functions() {
		p := f.Properties
		if p["Runtime"] != "provided.al2023" || at(p, "Architectures", 0) != "arm64" || at(p, "TracingConfig", "Mode") != "Active" || at(p, "LoggingConfig", "LogFormat") != "JSON" {
			t.Errorf("%s = %v", id, p)
		}
		if seconds := p["Timeout"].(float64); seconds > 29 && id != "AdminFunction" && id != "DatakeyFunction" || p["MemorySize"].(float64) > max(512, memory[id]) {
			t.Errorf("%s may take %v s and %v MB: the gateway waits for 29 s", id, seconds, p["MemorySize"])
		}
		role := plain(p["Role"])
		if roles[role] {
			t.Errorf("%s shares the role %s", id, role)
		}
		roles[role] = true
		if p["VpcConfig"] != nil {
			t.Errorf("%s is in a network, which it needs for nothing", id)
		}
	}
	if want := len(catalog.AllFunctions()); len(functions()) != want {
		t.Errorf("%d functions, want %d", len(functions()), want)
	}
}

// An environment is shown in consoles and in this template: whatever is in it
// must not be secret.
func TestNothingSecretIsInTheTemplates(t *testing.T) {
	t.Parallel()
	known := []string{"QUOTARY_TABLE_PREFIX", "QUOTARY_VIEWS_BUCKET", "QUOTARY_DATA_KEYS", "QUOTARY_NONCE_REPLAY_PROTECTION", "QUOTARY_MANAGEMENT_RATE", "QUOTARY_METRICS", "QUOTARY_RETENTION", "QUOTARY_SECRETS_KEY", "QUOTARY_DATA_KEYS_PARAMETER", "QUOTARY_HYPERLIQUID_URL", "QUOTARY_RELAY_WEIGHT"}
	for id, f := range functions() {
		for name, value := range at(f.Properties, "Environment", "Variables").(map[string]any) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: nobody has said whether %s is secret", id, name)
			}
			if name == "QUOTARY_DATA_KEYS" && plain(value) != "${DataKeys}" {
				t.Errorf("%s has data keys in its template", id)
			}
		}
	}
	for name, part := range full.parts {
		if key, ok := part.Parameters["DataKeys"]; ok && (key["Type"] != "AWS::SSM::Parameter::Value<String>" || key["Default"] != "/quotary/prod/data-keys") {
			t.Errorf("%s: %v", name, key)
		}
		if found := regexp.MustCompile(`AKIA[0-9A-Z]{16}|BEGIN [A-Z ]*PRIVATE KEY|(?i)"(secret|password|token)":\s*"`).Find(part.text); found != nil {
			t.Errorf("%s holds %s", name, found)
		}
	}
}

func TestEveryLogIsKeptForTheTimeAskedFor(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for part, tmpl := range full.parts {
		_, groups := tmpl.all("AWS::Logs::LogGroup")
		for id, g := range groups {
			if g.Properties["RetentionInDays"] != 90.0 {
				t.Errorf("%s is kept for %v days, want 90 as cdk.json says of prod", id, g.Properties["RetentionInDays"])
			}
			names[part+" ${"+id+"}"] = true
		}
	}
	for id, f := range functions() {
		group := plain(at(f.Properties, "LoggingConfig", "LogGroup"))
		if !names["api "+group] && !names["feeds "+group] && !names["data "+group] {
			t.Errorf("%s logs to %s, which is not ours", id, group)
		}
	}
}

func TestTheIngesterIsReachedByNobodyAndPaysNoNAT(t *testing.T) {
	t.Parallel()
	part := full.parts["ingester"]
	for _, kind := range []string{"AWS::EC2::NatGateway", "AWS::EC2::SecurityGroupIngress", "AWS::ElasticLoadBalancingV2::LoadBalancer"} {
		if ids, _ := part.all(kind); len(ids) > 0 {
			t.Errorf("there is %s %v", kind, ids)
		}
	}
	if group := part.only(t, "AWS::EC2::SecurityGroup"); group.Properties["SecurityGroupIngress"] != nil {
		t.Errorf("group = %v", group.Properties)
	}
	var services []string
	_, endpoints := part.all("AWS::EC2::VPCEndpoint")
	for _, e := range endpoints {
		services = append(services, path.Ext(plain(e.Properties["ServiceName"])))
		if e.Properties["VpcEndpointType"] != "Gateway" {
			t.Errorf("endpoint = %v", e.Properties)
		}
	}
	slices.Sort(services)
	if !slices.Equal(services, []string{".dynamodb", ".s3"}) {
		t.Errorf("endpoints for %v", services)
	}
}

func TestTheIngesterIsHealthCheckedAndRolledBack(t *testing.T) {
	t.Parallel()
	part := full.parts["ingester"]
	service := part.only(t, "AWS::ECS::Service").Properties
	deployment := service["DeploymentConfiguration"]
	if at(deployment, "DeploymentCircuitBreaker", "Rollback") != true || service["LaunchType"] != "FARGATE" {
		t.Errorf("service = %v", service)
	}
	// One works and one stands by; new ones start before old ones stop.
	if service["DesiredCount"] != 2.0 || at(deployment, "MaximumPercent") != 200.0 || at(deployment, "MinimumHealthyPercent") != 100.0 {
		t.Errorf("%v tasks, deployed by %v", service["DesiredCount"], deployment)
	}
	task := part.only(t, "AWS::ECS::TaskDefinition").Properties
	container := at(task, "ContainerDefinitions", 0)
	if at(task, "RuntimePlatform", "CpuArchitecture") != "ARM64" || at(container, "ReadonlyRootFilesystem") != true ||
		at(container, "HealthCheck", "Command", 2) != "http://127.0.0.1:8080/healthz" || at(container, "StopTimeout").(float64) <= 20 {
		t.Errorf("task = %v", task)
	}
	env := map[string]string{}
	for _, e := range listed(at(container, "Environment")) {
		env[at(e, "Name").(string)] = plain(at(e, "Value"))
	}
	for name, want := range map[string]string{
		"QUOTARY_TABLE_PREFIX": "quotary-prod-", "QUOTARY_VIEWS_BUCKET": "quotary-prod-views-${AWS::AccountId}-${AWS::Region}",
		"QUOTARY_INGESTER_ADDR": "127.0.0.1:8080", "QUOTARY_RETENTION": "fills=90d,orders=30d", "QUOTARY_METRICS": "quotary-prod", "GOMEMLIMIT": "1638MiB" /* of 2048 */, "AWS_REGION": "${AWS::Region}",
	} {
		if env[name] != want {
			t.Errorf("%s = %q, want %q", name, env[name], want)
		}
		delete(env, name)
	}
	for _, s := range deployedSettings() { // of which none may be secret, as the catalog says
		if want := strings.TrimPrefix(s.Deployed, "off"); env[s.Name] != want {
			t.Errorf("%s = %q, want %q", s.Name, env[s.Name], want)
		}
		delete(env, s.Name)
	}
	if len(env) > 0 {
		t.Errorf("nobody has said whether these are secret: %v", env)
	}
}

// deployedSettings are those of the ingester's domains that an operator has.
func deployedSettings() (all []*catalog.Setting) {
	for _, d := range catalog.Domains {
		for _, s := range d.Settings {
			if s.Deploy != "" {
				all = append(all, s)
			}
		}
	}
	return all
}

func TestTheGuideNamesEverySettingOfADomain(t *testing.T) {
	t.Parallel()
	chapters, err := filepath.Glob("../../docs/operate/*.md")
	if err != nil || len(chapters) == 0 {
		t.Fatalf("no chapters: %v", err)
	}
	var guide []byte
	for _, chapter := range chapters {
		text := must.Get(os.ReadFile(chapter))(t)
		guide = append(guide, text...)
	}
	for _, s := range deployedSettings() {
		if !strings.Contains(string(guide), "`"+s.Deploy+"`") {
			t.Errorf("the guide does not name the setting %s: %s", s.Deploy, s.Purpose)
		}
	}
	for _, d := range catalog.Domains {
		if !strings.Contains(string(guide), "`"+d.Name+"`") {
			t.Errorf("the guide does not name the domain %s", d.Name)
		}
	}
}

func TestEachFeedOfTheCatalogIsAWebSocketAPI(t *testing.T) {
	t.Parallel()
	part := full.parts["feeds"]
	_, apis := part.all("AWS::ApiGatewayV2::Api")
	paths := map[string]string{}
	for id, api := range apis {
		if api.Properties["ProtocolType"] != "WEBSOCKET" {
			t.Errorf("%s = %v", id, api.Properties)
		}
		paths[api.Properties["Description"].(string)] = id
	}
	for _, e := range catalog.All() {
		if e.Method != catalog.MethodWS {
			continue
		}
		id, ok := paths[e.Path]
		if !ok {
			t.Errorf("%s has no API", e.Path)
			continue
		}
		delete(paths, e.Path)
		feed(t, part, "${"+id+"}", e)
	}
	if len(paths) > 0 {
		t.Errorf("not in the catalog: %v", paths)
	}
}

func feed(t *testing.T, part *template, api string, e *catalog.Endpoint) {
	t.Helper()
	of := func(kind string) []*resource {
		var found []*resource
		ids, all := part.all(kind)
		for _, id := range ids {
			if plain(all[id].Properties["ApiId"]) == api {
				found = append(found, all[id])
			}
		}
		return found
	}
	routes := map[string]string{}
	for _, r := range of("AWS::ApiGatewayV2::Route") {
		routes[r.Properties["RouteKey"].(string)] = r.Properties["AuthorizationType"].(string)
	}
	if len(routes) != 3 || routes["$connect"] != "CUSTOM" || routes["$disconnect"] != "NONE" || routes["$default"] != "NONE" {
		t.Errorf("%s: routes %v", e.Path, routes)
	}
	stage := of("AWS::ApiGatewayV2::Stage")[0].Properties
	if at(stage, "StageVariables", "feed") != e.Feed() ||
		plain(at(stage, "StageVariables", "management")) != "https://"+api+".execute-api.${AWS::Region}.${AWS::URLSuffix}/api" || stage["AutoDeploy"] != true || strings.Contains(plain(at(stage, "AccessLogSettings", "Format")), "query") {
		t.Errorf("%s: stage %v", e.Path, stage)
	}
	authorizer := of("AWS::ApiGatewayV2::Authorizer")[0].Properties
	if len(listed(authorizer["IdentitySource"])) != 4 || !strings.Contains(plain(authorizer["AuthorizerUri"]), "function:quotary-prod-authorizer/") {
		t.Errorf("%s: authorizer %v", e.Path, authorizer)
	}
	if uri := plain(of("AWS::ApiGatewayV2::Integration")[0].Properties["IntegrationUri"]); !strings.Contains(uri, "${SocketFunction.Arn}") {
		t.Errorf("%s goes to %s", e.Path, uri)
	}
	if key := of("AWS::ApiGatewayV2::ApiMapping")[0].Properties["ApiMappingKey"]; key != "api"+e.Path {
		t.Errorf("%s is mapped to %v", e.Path, key)
	}
}

func TestDomainsServeTheirPathsAndNothingElseDoes(t *testing.T) {
	t.Parallel()
	mapping := full.parts["api"].only(t, "AWS::ApiGatewayV2::ApiMapping").Properties
	if mapping["ApiMappingKey"] != "api" || plain(mapping["ApiId"]) != "${Api}" {
		t.Errorf("mapping = %v", mapping)
	}
	if full.parts["api"].only(t, "AWS::ApiGateway::RestApi").Properties["DisableExecuteApiEndpoint"] != true {
		t.Error("the API is open beside its domain")
	}
	for _, part := range []string{"api", "feeds"} {
		name := full.parts[part].only(t, "AWS::ApiGatewayV2::DomainName").Properties
		if at(name, "DomainNameConfigurations", 0, "SecurityPolicy") != "TLS_1_2" {
			t.Errorf("domain = %v", name)
		}
		record := full.parts[part].only(t, "AWS::Route53::RecordSet").Properties
		if record["Name"] != name["DomainName"] {
			t.Errorf("record %v for %v", record["Name"], name["DomainName"])
		}
	}
}
