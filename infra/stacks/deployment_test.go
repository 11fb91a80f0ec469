package stacks_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"quotary/infra/stacks"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// Every rule of AwsSolutions holds, or somebody has said in a sentence why not.
func TestTheNagReportHasNoUnexplainedFinding(t *testing.T) {
	t.Parallel()
	checkNag(t, full)
}

func checkNag(t *testing.T, d *deployment) {
	t.Helper()
	reports, err := filepath.Glob(filepath.Join(d.dir, "AwsSolutions-*.csv"))
	if err != nil || len(reports) != len(d.parts) {
		t.Fatalf("%d reports of %d stacks (%v)", len(reports), len(d.parts), err)
	}
	checked := 0
	for _, report := range reports {
		file := must.Get(os.Open(report))(t)
		defer file.Close()
		rows := must.Get(csv.NewReader(file).ReadAll())(t)
		for _, row := range rows[1:] {
			rule, where, outcome, reason := row[0], row[1], row[2], row[3]
			reason = regexp.MustCompile(`^\[.*?\] `).ReplaceAllString(reason, "")
			switch outcome {
			case "Compliant", "N/A":
			case "Suppressed":
				if len(strings.Fields(reason)) < 8 {
					t.Errorf("%s at %s is waved through: %q", rule, where, reason)
				}
			default:
				t.Errorf("%s at %s: %s", rule, where, outcome)
			}
			checked++
		}
	}
	if checked < 50 {
		t.Errorf("only %d checks were made", checked)
	}
}

// The shape of the deployment, to be read in a review: how many resources of
// which type, and the names of what must not be replaced.
func TestTheShapeOfTheDeployment(t *testing.T) {
	t.Parallel()
	lasting := []string{"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key", "AWS::Lambda::Function", "AWS::ApiGateway::RestApi", "AWS::ApiGatewayV2::Api", "AWS::ECS::Service"}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(full.parts)) {
		counts := map[string]int{}
		for _, r := range full.parts[name].Resources {
			counts[r.Type]++
		}
		fmt.Fprintf(&b, "%s\n", name)
		for _, kind := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(&b, "  %3d %s", counts[kind], kind)
			if slices.Contains(lasting, kind) {
				ids, _ := full.parts[name].all(kind)
				b.WriteString(": " + strings.Join(ids, " "))
			}
			b.WriteString("\n")
		}
	}
	golden(t, "shape.txt", b.String())
}

func TestEveryAlarmTellsSomebodyWhatToDo(t *testing.T) {
	t.Parallel()
	const page = "docs/operate/runbooks.md"
	runbooks := must.Get(os.ReadFile("../../" + page))(t)
	headings := map[string]bool{}
	for _, line := range strings.Split(string(runbooks), "\n") {
		if text, ok := strings.CutPrefix(line, "### "); ok {
			headings[strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(text, "`", "")), " ", "-")] = true
		}
	}
	functions := functions()
	delete(functions, "DatakeyFunction") // a failure of it is one of the deployment
	names := map[string]bool{"quotary-prod": true, "quotary-prod-api": true, "quotary-prod-ingester": true}
	want := 11
	for _, d := range catalog.Domains {
		names[d.Name] = true
		want += 4
		if d.Archives {
			want++
		}
		if slices.ContainsFunc(d.Settings, func(s *catalog.Setting) bool { return s.Live }) {
			want += 2 // nobody misses an event of others, whose sources may be silent for days
		}
	}
	for _, f := range functions {
		names[f.Properties["FunctionName"].(string)] = true
	}
	_, tables := full.parts["data"].all("AWS::DynamoDB::Table")
	for _, table := range tables {
		names[table.Properties["TableName"].(string)] = true
	}
	ids, alarms := full.parts["watch"].all("AWS::CloudWatch::Alarm")
	for _, id := range ids {
		p := alarms[id].Properties
		meaning, anchor, _ := strings.Cut(p["AlarmDescription"].(string), "#")
		if !strings.HasSuffix(meaning, " "+page) {
			t.Errorf("%s leads to another page than %s: %s", p["AlarmName"], page, meaning)
		}
		anchor = strings.TrimPrefix(anchor, "alarm-")
		for _, group := range []string{"function", "table"} {
			if strings.HasPrefix(anchor, group+"-") {
				anchor = group
			}
		}
		if !headings["alarm-"+anchor] {
			t.Errorf("%s: the guide has no heading alarm-%s", p["AlarmName"], anchor)
		}
		if anchor == "ingester-catchup" && (p["Statistic"] != "Minimum" || p["Period"] != 3600.0 || p["EvaluationPeriods"] != 24.0) {
			t.Errorf("%s does not last a day: %v", p["AlarmName"], p)
		}
		if len(listed(p["AlarmActions"])) != 1 || len(listed(p["OKActions"])) != 1 {
			t.Errorf("%s notifies nobody", p["AlarmName"])
		}
		for _, m := range append(listed(p["Metrics"]), any(map[string]any{"MetricStat": map[string]any{"Metric": p}})) {
			for _, d := range listed(at(m, "MetricStat", "Metric", "Dimensions")) {
				if value := at(d, "Value").(string); !names[value] && value != "api" {
					t.Errorf("%s watches %s, which does not exist", p["AlarmName"], value)
				}
			}
		}
	}
	if want += len(functions) + len(tables); len(ids) != want {
		t.Errorf("%d alarms, want %d", len(ids), want)
	}
}

// What an alarm counts in a log must be what is written there.
func TestCountedLinesAreThoseOfTheLogs(t *testing.T) {
	t.Parallel()
	_, filters := full.parts["watch"].all("AWS::Logs::MetricFilter")
	found := map[string]string{}
	for _, f := range filters {
		found[f.Properties["FilterPattern"].(string)] = f.Properties["LogGroupName"].(string)
	}
	want := map[string]string{
		`{ $.error = "UNAUTHORIZED" }`: "/aws/apigateway/quotary-prod-api",
		`{ ($.error = "AUTHORIZER_FAILURE") || ($.error = "AUTHORIZER_CONFIGURATION_ERROR") }`: "/aws/apigateway/quotary-prod-api",
		`{ $.level = "ERROR" }`: "/quotary/quotary-prod-ingester",
	}
	if !maps.Equal(found, want) {
		t.Errorf("filters = %v", found)
	}
	kinds := map[string]bool{}
	for _, r := range catalog.GatewayResponses() {
		kinds[r.Type] = true
	}
	for pattern := range want {
		for _, name := range regexp.MustCompile(`\$\.error = "([A-Z_]+)"`).FindAllStringSubmatch(pattern, -1) {
			if !kinds[name[1]] {
				t.Errorf("no gateway response is called %s", name[1])
			}
		}
	}
	groups := map[string]bool{}
	for _, part := range full.parts {
		_, all := part.all("AWS::Logs::LogGroup")
		for _, g := range all {
			groups[plain(g.Properties["LogGroupName"])] = true
		}
	}
	for _, group := range want {
		if !groups[group] {
			t.Errorf("there is no log %s", group)
		}
	}
}

func TestTheBudgetWarnsBeforeAndAtItsEnd(t *testing.T) {
	t.Parallel()
	budget := full.parts["watch"].only(t, "AWS::Budgets::Budget").Properties
	var thresholds []float64
	for _, n := range listed(budget["NotificationsWithSubscribers"]) {
		thresholds = append(thresholds, at(n, "Notification", "Threshold").(float64))
		if at(n, "Subscribers", 0, "Address") != "operator@example.com" {
			t.Errorf("it notifies %v", at(n, "Subscribers"))
		}
	}
	if !slices.Equal(thresholds, []float64{80, 100}) || at(budget, "Budget", "BudgetLimit", "Amount") != 500.0 {
		t.Errorf("budget = %v", budget)
	}
}

// refused builds with a context that must be refused and returns why.
func refused(t *testing.T, context map[string]any) string {
	t.Helper()
	_, err := build(t.TempDir(), context, false)
	if err == nil {
		t.Fatalf("%v is accepted", context)
	}
	return err.Error()
}

func TestSettingsThatCannotWorkAreRefusedByName(t *testing.T) {
	for _, tt := range []struct {
		context map[string]any
		names   string
	}{
		{map[string]any{"env": "Prod_1"}, "env"},
		{map[string]any{"logDays": "8"}, "logDays"},
		{map[string]any{"keep": "maybe"}, "keep"},
		{map[string]any{"wafRate": "-1"}, "wafRate"},
		{map[string]any{"wafRate": "5"}, "wafRate"},
		{map[string]any{"throttleRate": "0"}, "throttleRate"},
		{map[string]any{"ingesterTasks": "1.5"}, "ingesterTasks"},
		{map[string]any{"ingesterTasks": "0"}, "ingesterTasks"},
		{map[string]any{"nodeDir": "hl/data"}, "nodeDir"},
		{map[string]any{"nodeDir": "/data", "orders": "some"}, "orders"},
		{map[string]any{"orders": "all"}, "nodeDir"},
		{map[string]any{"newsFeeds": "https://news.example/rss"}, "newsFeeds"},
		{map[string]any{"exchanges": "binance;okx"}, "exchanges: must be names"},
		{map[string]any{"exchangeMinutes": "0"}, "exchangeMinutes: must be a whole number of at least 1"},
		{map[string]any{"exchangeRefresh": "often"}, "exchangeRefresh: must be a positive duration"},
		{map[string]any{"apiDomain": "a.example.com"}, "apiCertificate"},
		{map[string]any{"feedsDomain": "a.example.com"}, "feedsCertificate"},
		{map[string]any{"apiDomain": "a.example.com", "feedsDomain": "a.example.com", "zoneID": "Z", "zoneName": "example.com"}, "must differ"},
		{map[string]any{"zoneID": "Z"}, "zoneName"},
		{map[string]any{"budgetUSD": "10"}, "alarmEmail"},
		{map[string]any{"athena": "true", "athenaGB": "0"}, "athenaGB"},
		{map[string]any{"restoredTables": "a/b"}, "restoredTables"},
		{map[string]any{"retention": "fills=90"}, "retention"},
		{map[string]any{"sources": "all"}, "sources"},
		{map[string]any{"localS3": "http://127.0.0.1:1"}, "localDynamoDB"},
		{map[string]any{"localArchitecture": "x86_64"}, "localDynamoDB"},
		{map[string]any{"localArchitecture": "amd64"}, "localArchitecture"},
	} {
		if why := refused(t, tt.context); !strings.Contains(why, tt.names) {
			t.Errorf("%v: %s", tt.context, why)
		}
	}
}

func TestAProgramThatIsNotBuiltIsNamed(t *testing.T) {
	assets := t.TempDir()
	must.Do(t, programs(assets, catalog.FunctionAuthorizer))
	why := refused(t, map[string]any{"assets": assets})
	for _, name := range []string{"admin", string(catalog.Distributor), "make package"} {
		if !strings.Contains(why, name) {
			t.Errorf("%q does not name %s", why, name)
		}
	}
}

// A development deployment: nothing is kept, no feeds as long as their function
// does not exist, no domain.
func TestADevelopmentDeploymentLeavesNothingBehind(t *testing.T) {
	assets := filepath.Join(t.TempDir(), "bin")
	must.Do(t, programs(assets, slices.DeleteFunc(catalog.AllFunctions(), func(name string) bool { return name == catalog.FunctionSocket })...))
	d := must.Get(synthesize(filepath.Join(t.TempDir(), "dev"), map[string]any{
		"assets": assets, "wafRate": "0", "restoredTables": "old-",
		"localDynamoDB": "http://127.0.0.1:1", "localS3": "http://127.0.0.1:2", "localViews": "local", "localArchitecture": "x86_64"}, false))(t)
	if d.parts["feeds"] != nil || len(d.parts) != 4 {
		t.Errorf("stacks: %v", slices.Sorted(maps.Keys(d.parts)))
	}
	for part, tmpl := range d.parts {
		for id, r := range tmpl.Resources {
			if r.DeletionPolicy == "Retain" && r.Type != "AWS::ApiGateway::Account" && !strings.HasPrefix(id, "ApiCloudWatchRole") {
				t.Errorf("%s: %s stays", part, id)
			}
			if r.Properties["DeletionProtectionEnabled"] == true {
				t.Errorf("%s: %s is protected", part, id)
			}
		}
	}
	if ids, _ := d.parts["api"].all("AWS::WAFv2::WebACL"); len(ids) > 0 {
		t.Error("there is a firewall")
	}
	function := d.parts["api"].Resources["PerpInfoFunction"].Properties
	if at(function, "Architectures", 0) != "x86_64" {
		t.Errorf("a function for sam is for %v", function["Architectures"])
	}
	env := at(function, "Environment", "Variables")
	if at(env, "QUOTARY_TABLE_PREFIX") != "old-" {
		t.Error("restored tables are not used")
	}
	if at(env, "QUOTARY_DATA_KEYS") != nil || at(env, "QUOTARY_DATA_KEYS_FILE") == nil || at(env, "QUOTARY_VIEWS_BUCKET") != "local" || at(env, "AWS_ENDPOINT_URL_S3") != "http://127.0.0.1:2" {
		t.Errorf("a function for sam has %v", env)
	}
	if !strings.Contains(string(d.parts["api"].text), "table/old-keys") || !strings.Contains(string(d.parts["data"].text), "quotary-dev-keys") {
		t.Error("rights are not on the restored tables, or the stack of data would replace its own")
	}
}

// Also one alone is replaced without a gap: the new one stands by first.
func TestOneIngesterIsReplacedByOneThatStoodBy(t *testing.T) {
	d := must.Get(synthesize(filepath.Join(t.TempDir(), "one"), map[string]any{"assets": filepath.Join(filepath.Dir(full.dir), "bin"), "ingesterTasks": "1", "hyperliquidURL": "off", "exchanges": "off", "nodeHosts": "true",
		"sources": "free", "announcements": "okx",
		"accounts": "hours", "hoursBucket": "hours-of-a-venue",
		"newsFeeds": []any{map[string]any{"url": "https://news.example/rss", "language": "en", "source": "Example News"}}}, false))(t)
	service := d.parts["ingester"].only(t, "AWS::ECS::Service").Properties
	if service["DesiredCount"] != 1.0 || at(service, "DeploymentConfiguration", "MinimumHealthyPercent") != 100.0 || at(service, "DeploymentConfiguration", "MaximumPercent") != 200.0 {
		t.Errorf("service = %v", service)
	}
	if strings.Contains(string(d.parts["ingester"].text), "QUOTARY_HYPERLIQUID_URL") || strings.Contains(string(d.parts["ingester"].text), "QUOTARY_EXCHANGES") || strings.Contains(string(d.parts["watch"].text), "ingester-silent") || strings.Contains(string(d.parts["watch"].text), "ingester-lag") {
		t.Error("a venue that is off is asked, or missed")
	}
	if !strings.Contains(string(d.parts["ingester"].text), "QUOTARY_NEWS_FEEDS") || strings.Contains(string(full.parts["ingester"].text), "QUOTARY_NEWS_FEEDS") {
		t.Error("feeds of news are not followed, or are where none are listed")
	}
	// The bucket of the venue's hours is read where it was chosen, and nowhere else.
	for part, text := range map[string]string{"ingester": "hours-of-a-venue/node_fills_by_block/hourly/*", "watch": "hours-refused"} {
		if !strings.Contains(string(d.parts[part].text), text) || strings.Contains(string(full.parts[part].text), text) {
			t.Errorf("%s is in no template of %s, or in one that reads no hours", text, part)
		}
	}
	// All free sources are followed, but for those that are set otherwise.
	for text, want := range map[string]bool{"https://api.alternative.me/fng": true, "https://api.coingecko.com/api/v3": true, "binance,bybit,okx": false, "QUOTARY_STOOQ": false} {
		if strings.Contains(string(d.parts["ingester"].text), text) != want || text != "binance,bybit,okx" && strings.Contains(string(full.parts["ingester"].text), text) {
			t.Errorf("%s is set, want that %t", text, want)
		}
	}
	// What fills the endpoints of accounts is said, and what it costs where nothing does.
	for part, says := range map[string]string{
		plain(d.parts["ingester"].Outputs["Accounts"]["Value"]):    "the hours that the venue publishes",
		plain(full.parts["ingester"].Outputs["Accounts"]["Value"]): "nothing: -c accounts=hours",
	} {
		if !strings.HasPrefix(part, says) {
			t.Errorf("the stack says %q, want %q", part, says)
		}
	}
	// Hosts can join before the ingesters move to them.
	if service["LaunchType"] != "FARGATE" || d.parts["ingester"].Resources["NodeHostRole"] == nil || full.parts["ingester"].Resources["NodeHostRole"] != nil {
		t.Error("the profile of hosts is there unasked, or is not")
	}
}

// Beside nodes the ingesters run on hosts of the operator's, with the same rights,
// log, health check and alarms, and see the node's output without being able to
// write to it.
func TestIngestersRunBesideNodes(t *testing.T) {
	assets := filepath.Join(filepath.Dir(full.dir), "bin")
	must.Do(t, write(filepath.Join(assets, "image", "ingester-amd64", "Dockerfile"), "FROM scratch\n"))
	d := must.Get(synthesize(filepath.Join(t.TempDir(), "node"), map[string]any{"assets": assets, "env": "prod", "nodeDir": "/home/hl/data", "orders": "all", "domains": "perp"}, true))(t)
	checkNag(t, d)
	lint(t, d)
	part, fargate := d.parts["ingester"], full.parts["ingester"]
	service := part.Resources["IngesterNodeService"].Properties
	if service["LaunchType"] != "EC2" || service["DesiredCount"] != 2.0 || at(service, "PlacementStrategies", 0, "Field") != "instanceId" ||
		at(service, "DeploymentConfiguration", "DeploymentCircuitBreaker", "Rollback") != true || at(service, "DeploymentConfiguration", "MinimumHealthyPercent") != 100.0 {
		t.Errorf("service = %v", service)
	}
	task := taskOf(t, part, service)
	container := at(task, "ContainerDefinitions", 0)
	if at(task, "Volumes", 0, "Host", "SourcePath") != "/home/hl/data" || at(container, "MountPoints", 0, "ContainerPath") != "/node" || at(container, "MountPoints", 0, "ReadOnly") != true {
		t.Errorf("task = %v", task)
	}
	env := map[string]string{}
	for _, e := range listed(at(container, "Environment")) {
		env[at(e, "Name").(string)] = plain(at(e, "Value"))
	}
	if env["QUOTARY_NODE_DIR"] != "/node" || env["QUOTARY_ORDERS"] != "all" || env["QUOTARY_DOMAINS"] != "perp" || env["QUOTARY_TABLE_PREFIX"] != "quotary-prod-" {
		t.Errorf("environment = %v", env)
	}
	same := fargate.only(t, "AWS::ECS::TaskDefinition").Properties
	for _, property := range []string{"HealthCheck", "LogConfiguration", "ReadonlyRootFilesystem", "StopTimeout"} {
		if got, want := plain(at(container, property)), plain(at(same, "ContainerDefinitions", 0, property)); got != want {
			t.Errorf("%s = %s, on Fargate %s", property, got, want)
		}
	}
	if got, want := plain(part.Resources["IngesterRole"].Properties["Policies"]), plain(fargate.Resources["IngesterRole"].Properties["Policies"]); got != want {
		t.Errorf("it may do %s, on Fargate %s", got, want)
	}
	for _, statement := range listed(at(part.Resources["NodeHostRole"].Properties, "Policies", 0, "PolicyDocument", "Statement")) {
		for _, action := range listed(at(statement, "Action")) {
			if name := action.(string); !strings.HasPrefix(name, "ecs:") || strings.Contains(name, "*") {
				t.Errorf("a host may do %s", name)
			}
		}
	}
	watched := map[any]int{}
	for _, alarm := range d.parts["watch"].Resources {
		for _, dimension := range listed(alarm.Properties["Dimensions"]) {
			if at(dimension, "Name") == "ServiceName" {
				watched[at(dimension, "Value")]++
			}
		}
	}
	if watched["quotary-prod-ingester-node"] != 3 || watched["quotary-prod-ingester"] != 1 || len(watched) != 2 {
		t.Errorf("alarms watch the services %v", watched)
	}

	// On Fargate one stands by that works when no node does, and knows of none.
	fallback := part.Resources["IngesterService"].Properties
	if fallback["LaunchType"] != "FARGATE" || fallback["DesiredCount"] != 1.0 {
		t.Errorf("fallback = %v", fallback)
	}
	reserve := taskOf(t, part, fallback)
	for _, e := range listed(at(reserve, "ContainerDefinitions", 0, "Environment")) {
		if name := at(e, "Name"); name == "QUOTARY_NODE_DIR" || name == "QUOTARY_ORDERS" {
			t.Errorf("the fallback has %v", e)
		}
	}
	if plain(reserve["TaskRoleArn"]) != plain(task["TaskRoleArn"]) {
		t.Error("the fallback has another role")
	}
	for _, alarm := range []string{"quotary-prod-ingester-fallback-down", "quotary-prod-ingester-node"} {
		if !strings.Contains(string(d.parts["watch"].text), `"`+alarm+`"`) {
			t.Errorf("there is no alarm %s", alarm)
		}
	}
	// Who follows a node may read hours in which its files lack blocks; who stands by takes nothing of accounts.
	holes := must.Get(synthesize(filepath.Join(t.TempDir(), "holes"), map[string]any{"assets": assets, "nodeDir": "/home/hl/data", "accounts": "hours"}, false))(t).parts["ingester"]
	for service, want := range map[string]string{"IngesterNodeService": "hours", "IngesterService": "off"} {
		for _, e := range listed(at(taskOf(t, holes, holes.Resources[service].Properties), "ContainerDefinitions", 0, "Environment")) {
			if at(e, "Name") == "QUOTARY_ACCOUNTS" && at(e, "Value") != want {
				t.Errorf("%s has %v, want %s", service, e, want)
			}
		}
	}
	without := must.Get(synthesize(filepath.Join(t.TempDir(), "without"), map[string]any{"assets": assets, "nodeDir": "/home/hl/data", "fallbackTasks": "0"}, false))(t)
	if without.parts["ingester"].only(t, "AWS::ECS::Service").Properties["LaunchType"] != "EC2" {
		t.Error("there is a fallback unasked")
	}
}

// taskOf is the task that a service runs.
func taskOf(t *testing.T, part *template, service map[string]any) map[string]any {
	t.Helper()
	id := strings.Trim(plain(service["TaskDefinition"]), "${}")
	if part.Resources[id] == nil {
		t.Fatalf("the service runs %q", id)
	}
	return part.Resources[id].Properties
}

func TestTheTemplatesPassCfnLint(t *testing.T) {
	t.Parallel()
	if !lint(t, full) {
		t.Skip("cfn-lint is not installed (pip install cfn-lint): the templates were not linted")
	}
}

// lint has cfn-lint look at the templates, where it is installed.
func lint(t *testing.T, d *deployment) bool {
	t.Helper()
	lint, err := exec.LookPath("cfn-lint")
	if err == nil {
		err = exec.Command(lint, "--version").Run()
	}
	if err != nil {
		return false
	}
	files := must.Get(filepath.Glob(filepath.Join(d.dir, "*.template.json")))(t)
	cmd := exec.CommandContext(t.Context(), lint, files...)
	cmd.Dir, cmd.WaitDelay = "../..", time.Second // where its settings are, for sam as well
	var exit *exec.ExitError
	if out, err := cmd.CombinedOutput(); errors.As(err, &exit) {
		t.Errorf("cfn-lint: %s", out)
	} else if err != nil {
		t.Fatal(err)
	}
	return true
}

// Read is what the command line gives; an app without any context must do.
func TestWithoutContextItIsADevelopmentDeploymentThatKeepsItsData(t *testing.T) {
	s, err := stacks.Read(awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir())}).Node())
	if err != nil || s.Env != "dev" || !s.Keep || s.IngesterTasks != 2 || s.Athena {
		t.Errorf("%+v, %v", s, err)
	}
}
