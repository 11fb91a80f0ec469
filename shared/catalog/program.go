package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Program is a program of a deployment with what it reads and writes. Everything
// else follows from that: the rights of its role, its environment, the list of
// functions, what their sample events look like. What a program does not declare it
// has no right to.
type Program struct {
	Name      string
	InvokedBy Invoker

	Tables  map[string][]string // actions of DynamoDB by table, sorted; tables without prefix
	Objects map[string][]string // actions of S3 by the prefix of objects in the bucket of views, sorted
	Secrets bool                // unwraps the data keys that seal secrets
	DataKey bool                // makes the first data key, and never unwraps one
	Push    bool                // sends frames to WebSocket connections
	Stream  bool                // follows the stream of the table of connections
	Nonces  bool                // checks signatures, and gives each nonce of one to one request

	reads []string // environment variables that follow from nothing above

	Memory    int           // MB of a function, with which its share of a core grows
	Timeout   time.Duration // of an invocation
	ReadUnits float64       // of DynamoDB that one request of a client may read
}

// Invoker is who starts the work of a program.
type Invoker int

// The invokers.
const (
	Gateway    Invoker = iota + 1 // the REST API, with requests for endpoints
	Authorizer                    // both kinds of API, with requests to authorize
	Sockets                       // the WebSocket APIs, with their routes
	Operator                      // a person, through IAM alone
	Deployment                    // CloudFormation
	Nobody                        // a program that runs for ever
)

// Names of the tables behind the prefix of a deployment.
const (
	LogTable         = "log"
	SeriesTable      = "series"
	KeysTable        = "keys"
	UsageTable       = "usage"
	ConnectionsTable = "connections"
	DocumentsTable   = "documents"
)

// GatewayTimeout is the longest that the gateway waits for a function.
const GatewayTimeout = 29 * time.Second

// MostReadUnits is what a request may read of DynamoDB at most, in read units: 0.06 cents
// worth at the price of requests on demand.
const MostReadUnits = 5000

// use is one thing that a program does, added to its declaration.
type use func(*Program)

func table(name string, actions ...string) use {
	return func(p *Program) { p.Tables[name] = union(p.Tables[name], actions) }
}

func objects(prefix string, actions ...string) use {
	return func(p *Program) { p.Objects[prefix] = union(p.Objects[prefix], actions) }
}

func size(megabytes int, timeout time.Duration) use {
	return func(p *Program) { p.Memory, p.Timeout = megabytes, timeout }
}

func environment(names ...string) use {
	return func(p *Program) { p.reads = append(p.reads, names...) }
}

func union(have, more []string) []string {
	all := slices.Concat(have, more)
	slices.Sort(all)
	return slices.Compact(all)
}

// What programs do.
var (
	readKeys   = table(KeysTable, "BatchGetItem", "GetItem")
	keepKeys   = table(KeysTable, "BatchGetItem", "GetItem", "PutItem", "Query", "UpdateItem")
	deleteKeys = table(KeysTable, "DeleteItem")
	count      = table(UsageTable, "BatchGetItem", "UpdateItem") // reads how the last month ended
	readUsage  = table(UsageTable, "BatchGetItem")
	readLog    = table(LogTable, "Query")
	readSeries = table(SeriesTable, "Query")
	loadSeries = table(SeriesTable, "BatchGetItem")
	checkpoint = table(SeriesTable, "GetItem") // that of a source
	readViews  = objects("views/", "GetObject")

	readDocuments = table(DocumentsTable, "GetItem", "Query")
	keepDocuments = table(DocumentsTable, "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem")

	// askIngester leaves what is wanted where the ingester finds it.
	askIngester = table(DocumentsTable, "PutItem", "Query", "UpdateItem")

	recordNonce use = func(p *Program) { table(UsageTable, "PutItem")(p); p.Nonces = true }

	unwrap  use = func(p *Program) { p.Secrets = true }
	dataKey use = func(p *Program) { p.DataKey = true }
	push    use = func(p *Program) { p.Push = true }
	follow  use = func(p *Program) { p.Stream = true }
)

// declared are the programs with what they do. A family's function is declared in
// the family's file; what every family needs for its gate is added.
var declared = map[string]declaration{
	FunctionAuthorizer: {Authorizer, []use{readKeys, recordNonce, unwrap, size(512, 10*time.Second)}}, // somebody waits for it before anything else happens
	FunctionAdmin:      {Operator, []use{keepKeys, readUsage, unwrap, size(256, time.Minute)}},        // may read a year of every sub-key
	FunctionDataKey:    {Deployment, []use{dataKey, size(256, 3*time.Minute)}},                        // waits for the rights of a role that was just made
	FunctionPlanned:    {Gateway, []use{size(256, 10*time.Second)}},
	FunctionSocket: {Sockets, []use{
		table(ConnectionsTable, "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"), push, size(512, 10*time.Second),
		table(KeysTable, "BatchGetItem"), // the limits in force
		readViews,                        // which coins there are
	}},
	ProgramIngester: {Nobody, []use{
		table(LogTable, "BatchGetItem", "BatchWriteItem", "PutItem", "Query", "Scan"),   // a new projection is folded from all of it
		table(SeriesTable, "BatchGetItem", "GetItem", "PutItem", "Query", "UpdateItem"), // its leases lie there too
		objects("views/", "GetObject", "PutObject"), objects("quarantine/", "PutObject"),
		objects("archive/", "GetObject", "PutObject"), // which nobody deletes
		objects("drop/", "GetObject", "PutObject"),    // reads a drop, and writes its report beside it
		objects("tables/", "DeleteObject", "GetObject", "PutObject"),
		table(DocumentsTable, "DeleteItem", "Query", "UpdateItem"), // what clients ask for, and how much of it
		readKeys, // whose connections must close
		table(ConnectionsTable, "DeleteItem", "GetItem", "Query", "Scan", "UpdateItem"), follow, push,
		environment(EnvDomains, EnvIngesterAddr, EnvFeeds),
	}},
}

type declaration struct {
	invokedBy Invoker
	uses      []use
}

// families holds what the declared families do beyond their gate.
var families = map[Family][]use{}

// does declares what the function of a family reads and writes, beyond what its gate
// needs. A family is declared once.
func does(family Family, uses ...use) struct{} {
	if _, is := families[family]; is {
		panic(fmt.Sprintf("catalog: what %s does is declared twice", family))
	}
	families[family] = uses
	return struct{}{}
}

// ProgramOf returns a program of the deployment; ok is false for one that declares
// nothing.
func ProgramOf(name string) (p Program, ok bool) {
	d, ok := declared[name]
	if uses, isFamily := families[Family(name)]; isFamily {
		d, ok = declaration{Gateway, uses}, true
	}
	if !ok {
		return Program{}, false
	}
	p = Program{
		Name: name, InvokedBy: d.invokedBy, Memory: 512, Timeout: GatewayTimeout, ReadUnits: MostReadUnits,
		Tables: map[string][]string{}, Objects: map[string][]string{},
	}
	if p.InvokedBy == Gateway {
		d.uses = append(gateUses(name), d.uses...)
	}
	for _, u := range d.uses {
		u(&p)
	}
	return p, true
}

// gateUses is what the gate of a function does behind the authorizer: it counts
// requests for data, checks the signatures of those that carry them in a body, and looks
// whether any source has spoken of what they are answered from.
func gateUses(function string) (uses []use) {
	for _, e := range Served(function) {
		if e.Method == "POST" && e.Authorized() {
			uses = append(uses, readKeys, recordNonce, unwrap)
		}
		if len(e.Needs) > 0 {
			uses = append(uses, readViews)
		}
		switch {
		case e.Planned:
		case e.Access.Charged():
			uses = append(uses, count)
		case e.Access.Counted():
			uses = append(uses, count, environment(EnvManagementRate))
		}
	}
	return uses
}

// Programs returns every program of a deployment, sorted by name.
func Programs() []Program {
	names := slices.Collect(maps.Keys(declared))
	for family := range families {
		names = append(names, string(family))
	}
	slices.Sort(names)
	programs := make([]Program, len(names))
	for i, name := range names {
		programs[i], _ = ProgramOf(name)
	}
	return programs
}

// AllFunctions returns the names of all functions of a deployment, sorted: those of
// [Functions], and those that serve no HTTPS endpoint.
func AllFunctions() []string {
	names := Functions()
	for _, p := range Programs() {
		if p.InvokedBy != Nobody {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Functions returns the names of all functions behind the HTTPS endpoints, sorted.
func Functions() []string {
	var names []string
	for _, e := range endpoints {
		if e.Method != MethodWS {
			names = append(names, e.Function())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Names of environment variables by which a program learns what it was deployed
// with. Those of one domain stand where that is declared: see [Domain].
const (
	EnvTablePrefix       = "QUOTARY_TABLE_PREFIX"            // what the names of the tables begin with
	EnvMetrics           = "QUOTARY_METRICS"                 // the deployment's name among the metrics, empty to emit none
	EnvViewsBucket       = "QUOTARY_VIEWS_BUCKET"            // the bucket of views
	EnvDataKeys          = "QUOTARY_DATA_KEYS"               // the data keys that seal secrets, wrapped by KMS
	EnvDataKeysFile      = "QUOTARY_DATA_KEYS_FILE"          // a file of plain ones in their place, on a developer's machine
	EnvReplayProtection  = "QUOTARY_NONCE_REPLAY_PROTECTION" // whether a nonce is accepted only once
	EnvManagementRate    = "QUOTARY_MANAGEMENT_RATE"         // management requests of a primary key in a minute, 0 for any number
	EnvSecretsKey        = "QUOTARY_SECRETS_KEY"             // the KMS key that wraps data keys
	EnvDataKeysParameter = "QUOTARY_DATA_KEYS_PARAMETER"     // the SSM parameter that holds the wrapped data keys

	EnvRetention = "QUOTARY_RETENTION" // for how long rows of log datasets can be read, as in fills=90d,orders=30d; for ever if not set

	EnvDomains      = "QUOTARY_DOMAINS"       // the domains that an ingester runs, separated by commas; all if not set
	EnvIngesterAddr = "QUOTARY_INGESTER_ADDR" // where an ingester answers health checks
	EnvIngesterName = "QUOTARY_INGESTER_NAME" // of an ingester in the leases; one that no other has if not set
	EnvFeeds        = "QUOTARY_FEEDS"         // whether an ingester drives the WebSocket feeds
)

// Environment returns the names of the environment variables that the program
// reads, by what it declares. The ingester reads the settings of its [Domains] too.
func (p Program) Environment() []string {
	names := []string{EnvTablePrefix, EnvMetrics}
	if len(p.Objects) > 0 {
		names = append(names, EnvViewsBucket)
	}
	if len(p.Tables[LogTable]) > 0 {
		names = append(names, EnvRetention)
	}
	if p.Secrets {
		names = append(names, EnvDataKeys)
	}
	if p.Nonces {
		names = append(names, EnvReplayProtection)
	}
	if p.DataKey {
		names = append(names, EnvSecretsKey, EnvDataKeysParameter)
	}
	return union(names, p.reads)
}

// Title is the name as identifiers hold it: perp-fills is PerpFills.
func (p Program) Title() string {
	var title strings.Builder
	for _, word := range strings.Split(p.Name, "-") {
		title.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return title.String()
}

// ProgramFile is the file of a program in the folder of built programs, as go build
// names it by the folder of its source: "market" for "perp-market".
func ProgramFile(name string) string { return name[strings.LastIndex(name, "-")+1:] }
