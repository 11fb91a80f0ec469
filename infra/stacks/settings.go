package stacks

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"

	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"quotary/shared/catalog"
	"quotary/shared/store/retention"
)

// Settings are what an operator chooses. Each is a context value of the name in
// its tag: from the command line (-c env=prod -c wafRate=50000), from the
// environment's section under "environments" in cdk.json, or the default.
type Settings struct {
	// Env names the environment. Names of everything begin with quotary-<env>-.
	Env string `context:"env" default:"dev"`
	// Keep protects data: tables and bucket outlive their stack, and neither
	// they nor the stacks can be deleted by mistake.
	Keep bool `context:"keep" default:"true"`
	// LogDays is how long logs are kept; CloudWatch knows 1, 3, 5, 7, 14, 30,
	// 60, 90, 120, 150, 180 and 365 among others.
	LogDays int `context:"logDays" default:"30"`
	// RestoredTables is what the names of tables begin with that were restored
	// from a backup, when the programs are to use them instead.
	RestoredTables string `context:"restoredTables"`
	// ReplayProtection accepts a nonce only once, for one write a request.
	ReplayProtection bool `context:"replayProtection" default:"true"`

	// ManagementRate is how many management requests of a distributor's primary key are
	// admitted in a minute, 0 for any number.
	ManagementRate int `context:"managementRate" default:"600"`

	// ThrottleRate (requests a second) and ThrottleBurst bound all callers
	// together, each API by itself.
	ThrottleRate  int `context:"throttleRate" default:"2000"`
	ThrottleBurst int `context:"throttleBurst" default:"1000"`
	// WAFRate is how many requests one address may send in five minutes, 0 for
	// no firewall.
	WAFRate int `context:"wafRate" default:"30000"`
	// APILogRole creates the role with which API Gateway writes logs. An
	// account and region has one: false where it is there already.
	APILogRole bool `context:"apiLogRole" default:"true"`

	// IngesterTasks is how many ingesters run: one works, the others stand by.
	IngesterTasks  int `context:"ingesterTasks" default:"2"`
	IngesterCPU    int `context:"ingesterCPU" default:"1024"`    // 1024 = one core
	IngesterMemory int `context:"ingesterMemory" default:"2048"` // MiB
	// Domains are those that the ingesters run, separated by commas; empty for all.
	Domains string `context:"domains"`
	// Retention is for how many days the rows of log datasets can be read, as in
	// "fills=90d,filledorders=30d"; those it does not name are kept for ever. What has
	// a retention is archived first: see "Retention and archive" in the guide.
	Retention string `context:"retention"`
	// NodeHosts makes the profile with which hosts of your own join the ingester's
	// cluster, before NodeDir has the ingesters run on them.
	NodeHosts bool `context:"nodeHosts" default:"false"`
	// NodeDir is the folder of a node's output on those hosts, an absolute path. The
	// ingesters run there then. Empty: they run on Fargate and know what the public
	// API reports, which is not the fills and orders of all accounts.
	NodeDir string `context:"nodeDir"`
	// FallbackTasks is how many ingesters stand by on Fargate beside those on hosts
	// with nodes: they work while no node is up to date.
	FallbackTasks int `context:"fallbackTasks" default:"1"`
	// Orders says of which orders a node's statuses are kept: filled or all.
	Orders string `context:"orders" default:"filled"`
	// Sources says whether all sources are followed that take no money and no key (free), but for those that
	// are set otherwise, or those alone that are set (chosen).
	Sources string `context:"sources" default:"chosen"`
	// domains holds what is set of the ingesters' domains, by the name of the variable
	// that the program reads: the catalog declares what there is to choose, by the name
	// that [catalog.Setting] calls Deploy. "off" in place of an address or of names
	// follows nobody.
	domains map[string]string

	// APIDomain and FeedsDomain are names of your own; they must differ, as one
	// domain cannot carry both kinds of API. Each needs the ARN of a certificate
	// in the same region, or a hosted zone in which one is validated.
	APIDomain        string `context:"apiDomain"`
	APICertificate   string `context:"apiCertificate"`
	FeedsDomain      string `context:"feedsDomain"`
	FeedsCertificate string `context:"feedsCertificate"`
	ZoneID           string `context:"zoneID"`
	ZoneName         string `context:"zoneName"`

	// AlarmEmail receives alarms.
	AlarmEmail string `context:"alarmEmail"`
	// Runbook is the address of the guide's chapter of alarms, for links in them.
	Runbook string `context:"runbook" default:"docs/operate/runbooks.md"`
	// BudgetUSD warns by AlarmEmail at 80 % and 100 % of a month's spending of
	// all of the account; 0 is no budget.
	BudgetUSD int `context:"budgetUSD" default:"0"`

	// Athena adds a Glue database over the archive and the trader table, and a workgroup
	// of Athena in which a query may read AthenaGB of them, 10^9 bytes each.
	Athena   bool `context:"athena" default:"false"`
	AthenaGB int  `context:"athenaGB" default:"10"`

	// Assets is the folder in which make package puts the programs.
	Assets string `context:"assets" default:"../bin"`
	// LocalDynamoDB, LocalS3 and LocalViews are the endpoints and the bucket of
	// a local stack, for functions that sam runs on this machine; they read
	// plain data keys from a file beside their program. Never for a deployment.
	LocalDynamoDB string `context:"localDynamoDB"`
	LocalS3       string `context:"localS3"`
	LocalViews    string `context:"localViews"`
	// LocalArchitecture is the processor of this machine, arm64 or x86_64: what sam
	// runs is built for it. A deployment is always for arm64.
	LocalArchitecture string `context:"localArchitecture" default:"arm64"`
}

// Read reads the settings from the context of the app.
func Read(node constructs.Node) (Settings, error) {
	var s Settings
	section := map[string]any{}
	if env, ok := node.TryGetContext(jsii.String("env")).(string); ok {
		all, _ := node.TryGetContext(jsii.String("environments")).(map[string]any)
		section, _ = all[env].(map[string]any)
	} else if all, ok := node.TryGetContext(jsii.String("environments")).(map[string]any); ok {
		section, _ = all["dev"].(map[string]any)
	}
	value := func(name, otherwise string) (string, error) {
		chosen := node.TryGetContext(jsii.String(name))
		if chosen == nil {
			chosen = section[name]
		}
		switch chosen := chosen.(type) {
		case nil:
			return otherwise, nil
		case []any:
			encoded, err := json.Marshal(chosen)
			return string(encoded), err
		}
		return fmt.Sprint(chosen), nil
	}
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name := field.Tag.Get("context")
		if name == "" {
			continue
		}
		text, err := value(name, field.Tag.Get("default"))
		if err == nil {
			err = set(v.Field(i), text)
		}
		if err != nil {
			return s, fmt.Errorf("setting %s: %w, not %q", name, err, text)
		}
	}
	if s.Sources != "chosen" && s.Sources != catalog.SourcesFree {
		return s, fmt.Errorf("setting sources: must be chosen or %s, not %q", catalog.SourcesFree, s.Sources)
	}
	s.domains = map[string]string{}
	for _, d := range catalog.Domains {
		for _, of := range d.Settings {
			if of.Deploy == "" {
				continue
			}
			otherwise := of.Deployed
			if s.Sources == catalog.SourcesFree && of.Free != "" {
				otherwise = of.Free
			}
			text, err := value(of.Deploy, otherwise)
			if err == nil && text != "" && text != "off" {
				s.domains[of.Name] = text
				if of.Check != nil {
					err = of.Check(text)
				}
			}
			if err != nil {
				return s, fmt.Errorf("setting %s: %w", of.Deploy, err)
			}
		}
	}
	return s, nil
}

func set(field reflect.Value, text string) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
	case reflect.Bool:
		value, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("must be true or false")
		}
		field.SetBool(value)
	default:
		value, err := strconv.ParseFloat(text, 64) // numbers of cdk.json arrive as floats
		if err != nil || value != float64(int64(value)) || value < 0 {
			return fmt.Errorf("must be a whole number of at least 0")
		}
		field.SetInt(int64(value))
	}
	return nil
}

var (
	envName   = regexp.MustCompile(`^[a-z][a-z0-9]{1,11}$`)
	nameList  = regexp.MustCompile(`^$|^[a-z]+(,[a-z]+)*$`)
	nodeDir   = regexp.MustCompile(`^$|^(/[A-Za-z0-9._-]+)+$`)
	tableName = regexp.MustCompile(`^$|^[A-Za-z0-9_.-]{1,200}$`)
)

func (s *Settings) check() error {
	if _, err := retention.Parse(s.Retention); err != nil {
		return fmt.Errorf("setting retention: %w", err)
	}
	switch {
	case !envName.MatchString(s.Env):
		return fmt.Errorf("setting env: must be 2 to 12 lower-case letters and digits that begin with a letter, not %q", s.Env)
	case !tableName.MatchString(s.RestoredTables):
		return fmt.Errorf("setting restoredTables: must be letters, digits, _ . or -, not %q", s.RestoredTables)
	case logRetention(s.LogDays) == "":
		return fmt.Errorf("setting logDays: must be a number of days that CloudWatch knows (7, 30, 90, 365, ...), not %d", s.LogDays)
	case s.APIDomain != "" && s.APIDomain == s.FeedsDomain:
		return fmt.Errorf("setting feedsDomain: must differ from apiDomain, as one domain cannot carry REST and WebSocket APIs")
	case s.APIDomain != "" && s.APICertificate == "" && s.ZoneID == "":
		return fmt.Errorf("setting apiDomain: needs apiCertificate, or zoneID and zoneName to validate a new one in")
	case s.FeedsDomain != "" && s.FeedsCertificate == "" && s.ZoneID == "":
		return fmt.Errorf("setting feedsDomain: needs feedsCertificate, or zoneID and zoneName to validate a new one in")
	case (s.LocalDynamoDB == "") != (s.LocalS3 == "") || (s.LocalS3 == "") != (s.LocalViews == ""):
		return fmt.Errorf("settings localDynamoDB, localS3 and localViews: need each other")
	case s.LocalArchitecture != "arm64" && (s.LocalArchitecture != "x86_64" || s.LocalDynamoDB == ""):
		return fmt.Errorf("setting localArchitecture: must be arm64, or x86_64 beside localDynamoDB, not %q", s.LocalArchitecture)
	case (s.ZoneID == "") != (s.ZoneName == ""):
		return fmt.Errorf("settings zoneID and zoneName: need each other")
	case s.BudgetUSD > 0 && s.AlarmEmail == "":
		return fmt.Errorf("setting budgetUSD: needs alarmEmail to warn somebody")
	case s.AthenaGB < 1:
		return fmt.Errorf("setting athenaGB: must be at least 1, as a query that may read nothing answers nothing")
	case s.IngesterTasks < 1:
		return fmt.Errorf("setting ingesterTasks: must be at least 1, as nothing else writes market data")
	case !nameList.MatchString(s.Domains):
		return fmt.Errorf("setting domains: must be names of lower-case letters, separated by commas, not %q", s.Domains)
	case !nodeDir.MatchString(s.NodeDir):
		return fmt.Errorf("setting nodeDir: must be an absolute path of letters, digits, / . _ and -, not %q", s.NodeDir)
	case s.Orders != "filled" && s.Orders != "all":
		return fmt.Errorf("setting orders: must be filled or all, not %q", s.Orders)
	case s.Orders != "filled" && s.NodeDir == "":
		return fmt.Errorf("setting orders: needs nodeDir, as only a node reports the statuses of all orders")
	case s.ThrottleRate < 1 || s.ThrottleBurst < 1:
		return fmt.Errorf("settings throttleRate and throttleBurst: must be at least 1, as 0 would refuse everybody")
	case s.WAFRate != 0 && s.WAFRate < 10:
		return fmt.Errorf("setting wafRate: must be at least 10, or 0 for no firewall, not %d", s.WAFRate)
	}
	return nil
}

// name is the name of a part of this deployment.
func (s *Settings) name(part string) string { return "quotary-" + s.Env + "-" + part }

// deployment is the name of this deployment among the metrics.
func (s *Settings) deployment() string { return "quotary-" + s.Env }

// tables is what the names of the tables begin with that the programs use.
func (s *Settings) tables() string {
	if s.RestoredTables != "" {
		return s.RestoredTables
	}
	return s.name("")
}

// bucket is the name of the bucket of views. Those of S3 are unique in the
// world, so it holds the account and the region.
func (s *Settings) bucket() string {
	return s.name("views-${AWS::AccountId}-${AWS::Region}")
}

// dataKeys is the name of the SSM parameter that holds the wrapped data keys.
func (s *Settings) dataKeys() string { return "/quotary/" + s.Env + "/data-keys" }

// logRetention is CDK's name for a number of days, "" if CloudWatch knows no such.
func logRetention(days int) string {
	return map[int]string{
		1: "ONE_DAY", 3: "THREE_DAYS", 5: "FIVE_DAYS", 7: "ONE_WEEK", 14: "TWO_WEEKS", 30: "ONE_MONTH",
		60: "TWO_MONTHS", 90: "THREE_MONTHS", 120: "FOUR_MONTHS", 150: "FIVE_MONTHS", 180: "SIX_MONTHS",
		365: "ONE_YEAR", 400: "THIRTEEN_MONTHS", 545: "EIGHTEEN_MONTHS", 731: "TWO_YEARS", 1827: "FIVE_YEARS",
	}[days]
}
