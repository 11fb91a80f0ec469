// Package catalog holds every endpoint of the service exactly once: its method,
// path, the permission it demands, the envelope it answers in, the function
// that serves it and the types of its request and response.
//
// Everything that must agree with an endpoint reads it from here: the mux of
// each function, the permission that the authorizer demands, the routes of the
// gateway, the OpenAPI document, sample events, generated tests, and the list of
// endpoints in docs. A new endpoint is one declaration in the file of its family.
//
// Beside the endpoints stand the programs that serve them ([Program]) with what each
// reads and writes, from which its rights and its environment follow, and the domains
// of the ingester ([Domain]) with what an operator sets of them.
//
// Its comments are its documentation: that of an endpoint is one sentence for whoever
// calls it, and those of request and response types and their fields stand in the
// public document (package openapi).
//
// The package imports nothing of the project, so that the local stack can use
// it without sharing a fault with what it tests.
package catalog

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Stage is the stage of the gateway, and BasePath the prefix of every public path:
// the base address that clients are given ends with it.
const (
	Stage    = "api"
	BasePath = "/" + Stage
)

// MaxBody is the largest request body that is accepted, in bytes.
const MaxBody = 1 << 20

// MethodWS marks the four WebSocket feeds in [Endpoint.Method].
const MethodWS = "WS"

// Endpoint is one line of the catalog.
type Endpoint struct {
	Method   string       // GET, POST, PUT, DELETE or MethodWS
	Path     string       // as the gateway routes it, relative to the base address: parameters in braces (see [PathParameter])
	template string       // the path as documents spell it; "" is Path
	Family   Family       // which function serves it once it is built
	Access   Access       // who may call it
	Envelope Envelope     // how success and failure are wrapped; empty for WebSocket feeds
	Planned  bool         // specified, not built yet: answers 501 in its envelope
	Addition bool         // in no document: clients of services of this kind call it
	Venue    bool         // where an account was not known yet its answer is the venue's own: see [HeaderDataSource]
	Begins   bool         // it says since when what it is made of is known: see [HeaderDataSince]
	Covers   bool         // it is made of the positions that are known: see [HeaderDataCoverage]
	Versions bool         // it is made of versions of something: see [HeaderDataVersion]
	Lookup   bool         // it looks for one thing, which may have happened behind [HeaderDataUntil] where it is not found
	KeyCheck bool         // clients check a key by it: where no source of what it needs is configured, it succeeds with nothing
	In       reflect.Type // request struct, nil while planned; its tags are described at Route
	Out      reflect.Type // type of data, nil while planned
	Needs    []*Dataset   // alternatives, of which a source must have spoken of one; empty where it answers from the request alone
}

// Function returns the name of the Lambda function that serves the endpoint
// today: its family's, or the one that answers for families without any
// handler yet.
func (e *Endpoint) Function() string {
	if !e.Family.built() {
		return FunctionPlanned
	}
	return string(e.Family)
}

// Authorized reports whether a request must pass the authorizer: all but
// registration, whose invite token is its credential.
func (e *Endpoint) Authorized() bool { return e.Access.Kind != Public }

// SignatureParameters are the names of the four parameters that sign a request.
var SignatureParameters = []string{"AccessKeyId", "SignatureNonce", "Timestamp", "Signature"}

// IdentitySource lists the query parameters without which the gateway refuses a
// request itself, with 401, so that it costs no function. A POST has none, as it may
// carry them in its body.
func (e *Endpoint) IdentitySource() []string {
	if !e.Authorized() || e.Method == "POST" {
		return nil
	}
	return SignatureParameters
}

// Documented returns the path as documents spell it, to which it does not matter how
// much of a path a parameter takes: /upgrade/v2/hl/klines-with-taker-vol/{coin}/{interval}.
func (e *Endpoint) Documented() string {
	if e.template != "" {
		return e.template
	}
	return strings.ReplaceAll(e.Path, "+}", "}")
}

// String names the endpoint as people write it: "GET /upgrade/v2/hl/tickers".
func (e *Endpoint) String() string { return e.Method + " " + e.Documented() }

// PathParameter reads a segment of [Endpoint.Path]: {coin} is a parameter, {coin+}
// a greedy one, which takes the rest of the path, slashes included.
func PathParameter(segment string) (name string, greedy, ok bool) {
	name, ok = strings.CutPrefix(segment, "{")
	name, closed := strings.CutSuffix(name, "}")
	name, greedy = strings.CutSuffix(name, "+")
	return name, greedy, ok && closed
}

// routed is a documented path as the gateway can route it. A coin may have a slash in its
// name, which clients do not encode: it takes the rest of the path, and so do the
// segments behind it, of which the gateway knows nothing: see [Endpoint.Values].
func routed[In any](path string) string {
	coins := map[string]bool{}
	for _, p := range Parameters(reflect.TypeFor[In]()) {
		coins[p.Names[0]] = p.In == "path" && p.Field.Type == reflect.TypeFor[Coin]()
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if name, _, ok := PathParameter(segment); ok && coins[name] {
			return strings.Join(segments[:i], "/") + "/{" + name + "+}"
		}
	}
	return path
}

// Values returns the parameters of the documented path, of those that the gateway found
// in the path of a request: what a greedy one took belongs to it and to the segments
// behind it. They are nil where it took too little.
func (e *Endpoint) Values(found map[string]string) map[string]string {
	routed := strings.Split(e.Path, "/")
	behind := strings.Split(e.Documented(), "/")[len(routed):]
	if len(behind) == 0 {
		return found
	}
	greedy, _, _ := PathParameter(routed[len(routed)-1])
	taken := strings.Split(found[greedy], "/")
	cut := len(taken) - len(behind)
	if cut < 1 {
		return nil
	}
	values := maps.Clone(found)
	values[greedy] = strings.Join(taken[:cut], "/")
	for i, segment := range behind {
		if name, _, ok := PathParameter(segment); ok {
			values[name] = taken[cut+i]
		} else if segment != taken[cut+i] {
			return nil
		}
	}
	return values
}

// Access says who may call an endpoint.
type Access struct {
	Kind AccessKind
	Name string // the action of ActionAccess or the grant of GrantAccess
}

// AccessKind is the kind of permission an endpoint demands.
type AccessKind int

const (
	// Public endpoints take no signature.
	Public AccessKind = iota + 1
	// Management endpoints take a distributor's primary key and nothing else.
	Management
	// ActionAccess endpoints take a sub-key whose level lists the action.
	ActionAccess
	// GrantAccess endpoints take a sub-key whose distributor holds the grant
	// and whose level has at least one permission.
	GrantAccess
	// AnyLevel endpoints take any active sub-key whose level has at least one
	// permission.
	AnyLevel
)

// Counted reports whether requests to such an endpoint are counted against a rate: those
// of data against that of the sub-key, those of management against that of all of a
// primary key's.
func (a Access) Counted() bool { return a.Kind == Management || a.Charged() }

// Charged reports whether requests to such an endpoint are counted against rate and
// quota: those of data, not those of management.
func (a Access) Charged() bool {
	return a.Kind == ActionAccess || a.Kind == GrantAccess || a.Kind == AnyLevel
}

// String shows the permission as the endpoint list spells it: an action or a
// grant by its name, "public", or "-" where the kind of key alone decides.
func (a Access) String() string {
	switch a.Kind {
	case Public:
		return "public"
	case ActionAccess, GrantAccess:
		return a.Name
	default:
		return "-"
	}
}

// Envelope is the wrapping of a response body.
//
//	A  {success, errorCode, error, data}
//	B  {code, msg, data}
//	C  {success, status, message, data}
//	D  {success, data, message}: the distributor endpoints
type Envelope string

// The four envelopes.
const (
	EnvelopeA Envelope = "A"
	EnvelopeB Envelope = "B"
	EnvelopeC Envelope = "C"
	EnvelopeD Envelope = "D"
)

// Route is an endpoint with the types of its request and response, so that the
// compiler ties a handler to its contract.
//
// In is a struct whose field tags say where a parameter comes from and what is
// accepted: path, query or body with the parameter's name (further accepted
// spellings after commas), default, min and max (of a number, a decimal, a lookback
// window or the length of a list), enum (values separated by |), maxlen (runes
// of a text), cut (entries of a list beyond it are dropped silently), list:"set" (in a
// list, null, which clients send for an id that they could not read, is left out, and an
// entry that comes again counts once),
// required:"true", example (a value for examples, where only the handler knows
// one), also (another JSON type that clients send, for the public document). A pointer field is nil when the parameter is absent.
//
// Values of enum are accepted in any letter case and bound as they stand in the tag; minutes
// and months (15m), and all where two differ by case alone, only as they are. One
// parameter may be given under several of its spellings, with the same value.
//
// A slice is a list: in the query x=a,b or x=a&x=b or x[]=a&x[]=b or x[0]=a&x[1]=b, in a
// body an array or a comma-joined text; enum and maxlen hold for each entry. Types with an
// UnmarshalText parse themselves: [PairKey] (under all its spellings), [Key],
// [Decimal], [StartDate], [EndDate], [Millis], [Seconds], [Lookback], [Days],
// [WindowDays], [LongDays], [LongWindowDays], [FuturesInterval], [KlinePeriod].
//
// Out is the type of data. One that is [Members], as [Paged] is, also puts members
// beside data.
type Route[In, Out any] struct{ *Endpoint }

// endpoints is filled by the declarations of the family files while the package
// initialises and is never written afterwards.
var endpoints []*Endpoint

func declare(e *Endpoint) *Endpoint {
	if slices.ContainsFunc(endpoints, func(have *Endpoint) bool { return have.Method == e.Method && have.Path == e.Path }) {
		panic(fmt.Sprintf("catalog: %s is declared twice", e))
	}
	endpoints = append(endpoints, e)
	return e
}

func route[In, Out any](method, path string, family Family, access Access, envelope Envelope) Route[In, Out] {
	return Route[In, Out]{declare(&Endpoint{
		Method: method, Path: routed[In](path), template: path, Family: family, Access: access, Envelope: envelope,
		In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](),
	})}
}

// addition declares an endpoint that no document has, and that clients call.
func addition[In, Out any](method, path string, family Family, access Access, envelope Envelope) Route[In, Out] {
	r := route[In, Out](method, path, family, access, envelope)
	r.Addition = true
	return r
}

// fromVenue declares that an answer may begin with what the venue itself says.
func (r Route[In, Out]) fromVenue() Route[In, Out] {
	r.Venue = true
	return r
}

// begins declares that an answer may lack what was before something was followed.
func (r Route[In, Out]) begins() Route[In, Out] {
	r.Begins = true
	return r
}

// covers declares that an answer is made of the positions that are known.
func (r Route[In, Out]) covers() Route[In, Out] {
	r.Covers = true
	return r
}

// ofVersions declares that an answer is made of a version of something.
func (r Route[In, Out]) ofVersions() Route[In, Out] {
	r.Versions = true
	return r
}

func action(name string) Access { return Access{Kind: ActionAccess, Name: name} }
func grant(name string) Access  { return Access{Kind: GrantAccess, Name: name} }

var (
	public     = Access{Kind: Public}
	management = Access{Kind: Management}
	anyLevel   = Access{Kind: AnyLevel}
)

// All returns every endpoint, ordered by path and method. The caller owns the
// slice, the endpoints are shared and must not be changed.
func All() []*Endpoint {
	all := slices.Clone(endpoints)
	slices.SortFunc(all, func(a, b *Endpoint) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Method, b.Method)
	})
	return all
}

// Actions returns the names that a level's permissions may list and that open
// an endpoint, sorted.
func Actions() []string { return names(ActionAccess) }

// Grants returns the names that an operator may grant to a distributor, sorted.
func Grants() []string { return names(GrantAccess) }

func names(kind AccessKind) []string {
	var out []string
	for _, e := range endpoints {
		if e.Access.Kind == kind {
			out = append(out, e.Access.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
