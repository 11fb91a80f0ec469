package events_test

import (
	"encoding/json"
	"math"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/data/datatest"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
	"quotary/shared/traderfields"
	"quotary/shared/traderquery"
)

// objectsFile holds what the dearest questions about traders read in a large world.
const objectsFile = "testdata/objects.json"

// question is what a question about traders costs a function that has not answered one before.
type question struct {
	cost
	Objects  int `json:"objects"`  // requests to the object store
	ObjectKB int `json:"objectKB"` // what these read
}

// objectReads counts what a function reads of the object store.
type objectReads struct {
	mu       sync.Mutex
	requests int
	bytes    int64
}

func (o *objectReads) take() (requests int, kb int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	requests, kb = o.requests, int((o.bytes+1023)/1024)
	o.requests, o.bytes = 0, 0
	return requests, kb
}

// counted is who counts a request and its answer.
func (o *objectReads) counted(w http.ResponseWriter) http.ResponseWriter {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests++
	return &countedAnswer{w, o}
}

type countedAnswer struct {
	http.ResponseWriter
	of *objectReads
}

// Write counts what is written.
func (c *countedAnswer) Write(b []byte) (int, error) {
	c.of.mu.Lock()
	c.of.bytes += int64(len(b))
	c.of.mu.Unlock()
	return c.ResponseWriter.Write(b)
}

// mostObjects is how many requests to the object store a question may make: they cost what the read units
// do that a request may read.
var mostObjects = int(math.Floor(catalog.MostReadUnits * perRead / perGet))

// TestTheDearestQuestionsAboutTraders asks for as much as one may: figures, conditions and time. As a
// proof it does so of many traders, and writes the guide's table.
func TestTheDearestQuestionsAboutTraders(t *testing.T) {
	t.Parallel()
	if os.Getenv("QUOTARY_DYNAMODB_ENDPOINT") != "" {
		t.Skip("the sizes that another engine counts in are its own")
	}
	now := time.Now()
	c := &costs{deployment: deploy(t), t: t}
	list := datatest.Traders(testenv.Amount(80, 4_000), now.UnixMilli())
	datatest.PublishTraders(t, c.bucket, "views", now.UnixMilli(), list)
	files := datatest.PublishYear(t, c.bucket, "views", now.UnixMilli(), list)
	var all []question
	for name, of := range map[*catalog.Endpoint]map[string]any{
		catalog.Discover.Endpoint: {
			"selects": figures(), "filters": conditions(figures()), "loadTags": true, "loadPnls": true, "period": 30, "pageSize": 25, "limitCoins": []string{"BTC", "ETH", "SOL", "xyz:GOLD"},
		},
		catalog.DiscoverHistory.Endpoint: {
			"selects": pastFigures(now), "filters": conditions(pastFigures(now)), "startTime": now.Add(-365 * 24 * time.Hour).UnixMilli(), "pageSize": 25, "limitCoins": []string{"BTC", "ETH", "SOL", "xyz:GOLD"},
		},
	} {
		c.rules.Take()
		c.functions[name.Function()].take()
		status, answer := c.send(c.sign(c.SubKey), name.Method, name.Path, of)
		if status != http.StatusOK {
			t.Fatalf("%s is answered %d %.300s", name, status, answer)
		}
		one := question{cost: c.taken(name.String(), answer)}
		one.Objects, one.ObjectKB = c.functions[name.Function()].take()
		if one.Objects < files/3 && name == catalog.DiscoverHistory.Endpoint || one.Objects < 10 || one.Objects > mostObjects || one.Reads > catalog.MostReadUnits {
			t.Errorf("%+v, of a history of %d files; at most %d objects are meant", one, files, mostObjects)
		}
		// Held in the small world, where all columns of a file are read together.
		if most := map[bool]int{true: 9*files + 60, false: 40}[name == catalog.DiscoverHistory.Endpoint]; !testenv.Prove() && one.Objects > most {
			t.Errorf("%s makes %d requests to the object store, more than %d: %d files", name, one.Objects, most, files)
		}
		all = append(all, one)
	}
	if !testenv.Prove() {
		return
	}
	slices.SortFunc(all, func(a, b question) int { return b.Objects - a.Objects })
	must.Do(t, os.WriteFile(objectsFile, append(must.Get(json.MarshalIndent(all, "", "  "))(t), '\n'), 0o644))
	writeGuide(t, true)
}

// figures are as many columns of the table as a question may name, beside that by which it orders.
func figures() (names []string) {
	for _, column := range traderfields.Columns() {
		if len(names) < 149 {
			names = append(names, column.Name())
		}
	}
	return names
}

// pastFigures are all fields of a window.
func pastFigures(now time.Time) (names []string) {
	for i := range traderfields.Fields {
		name := traderfields.Fields[i].Name
		if _, _, err := traderquery.History(&catalog.DiscoverHistoryIn{PageNum: 1, PageSize: 25, Selects: []string{name}}, now); err == nil && name != "address" {
			names = append(names, name)
		}
	}
	return names
}

// conditions are as many as there may be, which all pass that are known.
func conditions(names []string) (filters []map[string]any) {
	for _, name := range names[:50] {
		filters = append(filters, map[string]any{"field": name, "op": "exist"})
	}
	return filters
}
