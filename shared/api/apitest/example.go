package apitest

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"quotary/shared/catalog"
)

// Request is a call of an endpoint, to be sent by [World.Call].
type Request struct {
	Endpoint *catalog.Endpoint
	path     map[string]string
	query    url.Values
	body     map[string]any
}

// Example returns a request that the endpoint accepts, with the parameters that it
// requires and those that have an example. Its values come from the tags of the
// request struct (see [catalog.Route]).
func Example(e *catalog.Endpoint) Request {
	r := Request{Endpoint: e, path: map[string]string{}, query: url.Values{}, body: map[string]any{}}
	for _, segment := range strings.Split(e.Documented(), "/") {
		if name, _, ok := catalog.PathParameter(segment); ok { // of an endpoint to come nothing else is known
			r.path[name] = map[string]string{"address": anAddress, "builder": anAddress}[name]
			r.path[name] = cmp.Or(r.path[name], "1")
		}
	}
	for _, p := range Parameters(e) {
		if p.Required || p.Example {
			r = r.With(p, p.Valid)
		}
	}
	return r
}

// With returns the request with a value of one parameter, nil to leave it out. A
// path always has all its parameters.
func (r Request) With(p Parameter, value any) Request {
	r.path, r.query, r.body = maps.Clone(r.path), maps.Clone(r.query), maps.Clone(r.body)
	switch p.In {
	case "path":
		r.path[p.Name] = fmt.Sprint(value)
	case "query":
		delete(r.query, p.Name)
		if value != nil {
			r.query.Set(p.Name, fmt.Sprint(value))
		}
	case "body":
		delete(r.body, p.Name)
		if value != nil {
			r.body[p.Name] = value
		}
	}
	return r
}

// Also returns the request with one more value of a parameter of the query, under one of its
// names.
func (r Request) Also(name string, value any) Request {
	r.query = maps.Clone(r.query)
	r.query[name] = append(slices.Clone(r.query[name]), fmt.Sprint(value))
	return r
}

// Target is the path with its parameters, and the query.
func (r Request) Target() string {
	path := r.Endpoint.Documented()
	for name, value := range r.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	if len(r.query) > 0 {
		path += "?" + r.query.Encode()
	}
	return path
}

// Body is what a POST or PUT sends: a JSON object; nil for other methods.
func (r Request) Body() any {
	if r.Endpoint.Method == "GET" || r.Endpoint.Method == "DELETE" {
		return nil
	}
	return r.body
}

// Parameter is a parameter of an endpoint with values to try.
type Parameter struct {
	Field    string   // of the request struct
	Name     string   // in the request
	Names    []string // under which it is accepted, Name first
	In       string   // path, query or body
	List     bool
	Required bool
	Example  bool   // optional, and part of an example
	Default  string // the text of what is bound where it is left out, "" = nothing
	Valid    any    // a value that is accepted
	Invalid  []any  // values that are refused
}

const anAddress = "0x0123456789abcdef0123456789abcdef01234567"

// Parameters returns the parameters of a built endpoint.
func Parameters(e *catalog.Endpoint) (list []Parameter) {
	for _, declared := range catalog.Parameters(e.In) {
		field := declared.Field
		p := Parameter{
			Field: field.Name, Name: declared.Names[0], Names: declared.Names, In: declared.In,
			Required: declared.Required, Default: declared.Default, List: field.Type.Kind() == reflect.Slice,
		}
		p.Valid, p.Invalid = values(field.Type, field.Tag)
		if p.List && p.In == "query" {
			p.Valid, p.Invalid = inQuery(p.Valid, p.Invalid)
		}
		if example := field.Tag.Get("example"); example != "" {
			p.Valid, p.Example = example, !p.Required
		}
		list = append(list, p)
	}
	return list
}

// inQuery writes lists as the query carries them, comma-joined.
func inQuery(valid any, invalid []any) (any, []any) {
	join := func(value any) (string, bool) {
		entries, ok := value.([]any)
		texts := make([]string, len(entries))
		for i, entry := range entries {
			texts[i] = fmt.Sprint(cmp.Or(entry, any("a")))
		}
		return strings.Join(texts, ","), ok && len(texts) > 0
	}
	var refused []any
	for _, value := range invalid {
		// A comma in an entry makes two of it.
		if text, ok := join(value); ok && strings.Count(text, ",") == len(value.([]any))-1 {
			refused = append(refused, text)
		}
	}
	text, _ := join(valid)
	return text, refused
}

// values are one that a parameter takes and some that it does not.
func values(t reflect.Type, tag reflect.StructTag) (valid any, invalid []any) {
	least, most := tag.Get("min"), tag.Get("max")
	switch {
	case t == reflect.TypeFor[catalog.Key](), t == reflect.TypeFor[catalog.PairKey]():
		return "a:b", []any{"a b", "a,b", "a\x00", strings.Repeat("a", 65)}
	case t == reflect.TypeFor[catalog.FuturesInterval]():
		return "15m", []any{"3m", "15", "1M", "15M"}
	case t == reflect.TypeFor[catalog.KlinePeriod]():
		return 900, []any{"1day", 61, "-900", "900.0"}
	case t == reflect.TypeFor[catalog.Days]():
		return 90, []any{"-1", "7h", "d", "1.5", 366, "+7"}
	case t == reflect.TypeFor[catalog.WindowDays]():
		return 30, []any{"-1", "7h", "d", "1.5", 90, "+7"}
	case t == reflect.TypeFor[catalog.LongDays](), t == reflect.TypeFor[catalog.LongWindowDays]():
		return 90, []any{"-1", "7h", "d", "1.5", 365, "+7"}
	case t == reflect.TypeFor[catalog.Seconds]():
		return int64(1_790_000_000), []any{"-1", "yesterday", "1.5", "1790000000000"}
	case t == reflect.TypeFor[catalog.StartDate](), t == reflect.TypeFor[catalog.EndDate]():
		return "2026-11-20", []any{"yesterday", "2026-13-01", "2026-1-1", "20261120", "1790000000"}
	case t == reflect.TypeFor[catalog.Moment]():
		return "-30m", []any{"yesterday", "2026-13-01", "-1y", "-99999w", "7d", "-"}
	case t == reflect.TypeFor[catalog.Decimal]():
		return decimals(least, most)
	case t.Kind() == reflect.Pointer:
		return values(t.Elem(), tag)
	case t == reflect.TypeFor[catalog.Address]():
		return anAddress, []any{"0x1", "x", anAddress + "0"}
	case t == reflect.TypeFor[catalog.Coin]():
		return "BTC", []any{"B TC", strings.Repeat("A", 33), "B\u00e9"}
	case t == reflect.TypeFor[catalog.Millis]():
		return int64(1_790_000_000_000), []any{"-1", "yesterday", "1.5", "999999999999999"}
	case t == reflect.TypeFor[catalog.Int]():
		return 1, []any{"x", "1.5", "+1"}
	case t == reflect.TypeFor[catalog.Cursor](), t == reflect.TypeFor[catalog.EventCursor]():
		return "1790000000000.1", []any{"1790000000000", "1790000000000.0", "x.1", "-1.1", "01.1", "1.1.1"}
	case t == reflect.TypeFor[catalog.Lookback]():
		invalid = []any{"x", "1", "-1h", "1y"}
		if n := seconds(least); n > 1 {
			invalid = append(invalid, strconv.FormatInt(n-1, 10)+"s")
		}
		if n := seconds(most); n > 0 {
			invalid = append(invalid, strconv.FormatInt(n+1, 10)+"s")
		}
		return cmp.Or(least, "1h"), invalid
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		panic(fmt.Sprintf("apitest: nothing is known of %s: add what it accepts and refuses", t))
	}
	switch t.Kind() {
	case reflect.Int64:
		invalid = []any{"x", "1.5", "+1", "99999999999999999999"}
		n, err := strconv.ParseInt(least, 10, 64)
		if err == nil {
			invalid = append(invalid, n-1)
		}
		if n, err := strconv.ParseInt(most, 10, 64); err == nil {
			invalid = append(invalid, n+1)
		}
		return max(n, 1), invalid
	case reflect.Bool:
		return true, []any{"maybe", "2"}
	case reflect.Slice:
		entry, refused := values(t.Elem(), reflect.StructTag(fmt.Sprintf("enum:%q maxlen:%q", tag.Get("enum"), tag.Get("maxlen"))))
		invalid = []any{map[string]any{}}
		for _, value := range refused {
			invalid = append(invalid, []any{value})
		}
		for text, beyond := range map[string]int{least: -1, most: 1} {
			if n, err := strconv.Atoi(text); err == nil {
				list := slices.Repeat([]any{entry}, n+beyond)
				if tag.Get("list") == "set" {
					list = different(list)
				}
				invalid = append(invalid, list)
			}
		}
		return []any{entry}, invalid
	case reflect.Struct:
		return map[string]any{}, []any{"x", []any{}, 5}
	}
	if list := tag.Get("enum"); list != "" {
		first, _, _ := strings.Cut(strings.TrimPrefix(list, "|"), "|") // an empty one is as good as none
		return first, []any{"none of these"}
	}
	longest, err := strconv.Atoi(tag.Get("maxlen"))
	if err != nil {
		longest = 4096
	}
	return "a", []any{strings.Repeat("a", longest+1), "a\x00b"}
}

// different makes the numbers or keys of a list differ.
func different(list []any) []any {
	for i, entry := range list {
		if n, ok := entry.(int64); ok {
			list[i] = n + int64(i)
		} else {
			list[i] = fmt.Sprint(entry, i)
		}
	}
	return list
}

// decimals are values of a decimal with bounds.
func decimals(least, most string) (valid any, invalid []any) {
	invalid = []any{"x", "NaN", "Infinity", "+1", "1e99", ".5", strings.Repeat("9", 20)}
	if least != "" {
		invalid = append(invalid, "-"+strings.Repeat("9", 19))
	}
	if most != "" {
		invalid = append(invalid, strings.Repeat("9", 19))
	}
	return cmp.Or(least, most, "0.25"), invalid
}

// seconds is a window in seconds, 0 where there is none.
func seconds(window string) int64 {
	var l catalog.Lookback
	if l.UnmarshalText([]byte(window)) != nil {
		return 0
	}
	return int64(l)
}
