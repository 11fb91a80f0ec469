package events_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"quotary/shared/api/apitest"
	"quotary/shared/catalog"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// List prices of us-east-1 in US dollars, of late 2025, without the free tier.
const (
	perRead          = 0.125e-6 // a unit
	perWrite         = 0.625e-6 // a unit
	perStreamRead    = 0.02 / 100_000
	perTableGB       = 0.25 // a month
	perRecoveryGB    = 0.20 // a month
	perInvocation    = 0.20e-6
	perGBSecond      = 0.0000133334 // Lambda on arm64
	perConnected     = 0.25e-6      // a minute
	perFirewalled    = 0.60e-6      // a request
	firewallList     = 5.0          // a month
	firewallRule     = 1.0          // a month
	perLogGB         = 0.50
	perTrace         = 5e-6
	perPut           = 5e-6 // of an object
	perGet           = 0.4e-6
	perCoreHour      = 0.03238
	perMemoryGBHour  = 0.00356
	perAddressHour   = 0.005
	perAlarm         = 0.10
	perMetric        = 0.30
	perDashboardKey  = 3.0 + 1.0 // a dashboard, a key
	hoursAMonth      = 730.0
	secondsAMonth    = hoursAMonth * 3600
	functionMemoryGB = 0.5
)

// tier is a price of what lies below a bound.
type tier struct{ below, price float64 }

var (
	restRequests = []tier{{333e6, 3.50e-6}, {math.Inf(1), 2.80e-6}}
	messages     = []tier{{1e9, 1.00e-6}, {math.Inf(1), 0.80e-6}}
	trafficGB    = []tier{{10_000, 0.09}, {50_000, 0.085}, {150_000, 0.07}, {math.Inf(1), 0.05}}
)

// priced is what n cost by tiers.
func priced(tiers []tier, n float64) (dollars float64) {
	from := 0.0
	for _, t := range tiers {
		dollars += max(min(n, t.below)-from, 0) * t.price
		from = t.below
	}
	return dollars
}

// Assumptions of the tables, which say them.
const (
	gateAndAnswer   = 0.035 // seconds of the authorizer and the function together
	messageAnswer   = 0.010 // seconds of the socket function
	headersKB       = 0.5
	logKB           = 2.0
	traced          = 0.05
	heartbeatEvery  = 30.0 // seconds
	lookEvery       = 2.0  // seconds between looks at a socket's key
	probeEvery      = 10.0 // seconds between probes of a quiet socket
	probeShare      = 20   // of the feeds' requests one in so many is a probe
	shards          = 4    // of the stream of a new table
	polls           = 4    // a second of a shard
	fundingUnits    = 2.4e6
	viewsASecond    = 2
	alarms, metrics = 57, 130
)

// guide is the tables of the guide, which are made of what was counted.
type guide struct {
	costs     map[string]cost
	order     []string
	dear      []cost
	questions []question // the dearest about traders
	rate      float64    // requests a second that the feeds may make
}

func readGuide(t *testing.T) *guide {
	t.Helper()
	text, err := os.ReadFile(costsFile)
	var list []cost
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := &guide{costs: map[string]cost{}}
	if text, err = os.ReadFile(dearestFile); err == nil {
		err = json.Unmarshal(text, &g.dear)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		g.costs[c.Request] = c
		g.order = append(g.order, c.Request)
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(objectsFile))(t), &g.questions))
	g.rate = must.Get(strconv.ParseFloat(catalog.EnvFeedRate.Deployed, 64))(t)
	return g
}

// units is what a request costs of DynamoDB, in dollars.
func (g *guide) units(request string) float64 {
	c, ok := g.costs[request]
	if !ok {
		panic("nobody counted " + request)
	}
	return c.Reads*perRead + c.Writes*perWrite
}

// table writes a table whose first columns are texts and whose last ones are figures.
func table(texts int, rows ...[]string) string {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", texts) + strings.Repeat("|---:", len(row)-texts) + "|\n")
		}
	}
	return b.String()
}

// dollars is an amount as the guide writes it.
func dollars(x float64) string {
	if x < 9.95 {
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	}
	digits := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// line is a line of a table whose figures depend on an amount.
func line(name, assumption string, amounts []float64, of func(n float64) float64) []string {
	row := []string{name, assumption}
	for _, n := range amounts {
		row = append(row, dollars(of(n)))
	}
	return row
}

// requests is the sum of what a request costs.
func (g *guide) requests() string {
	c, amounts := g.costs[cheapest], []float64{1e6, 100e6, 1e9}
	rows := [][]string{{"Per request", "Assumption", "1M", "100M", "1B"}}
	sums := make([]float64, len(amounts))
	add := func(name, assumption string, cost func(n float64) float64) {
		rows = append(rows, line(name, assumption, amounts, cost))
		for i, n := range amounts {
			sums[i] += cost(n)
		}
	}
	add("REST API", "3.50 per million, 2.80 above 333M", func(n float64) float64 { return priced(restRequests, n) })
	add("Lambda", "authorizer and function: 2 x 0.20 per million, 35 ms together at 512 MB, arm64", func(n float64) float64 {
		return n * (2*perInvocation + gateAndAnswer*functionMemoryGB*perGBSecond)
	})
	add("DynamoDB", fmt.Sprintf("%v writes (nonce, key, distributor) at 0.625, %v read units (key, distributor) at 0.125 per million", c.Writes, c.Reads),
		func(n float64) float64 { return n * g.units(cheapest) })
	add("Firewall", "5 for the list, 1 a rule, 0.60 per million", func(n float64) float64 { return firewallList + 2*firewallRule + n*perFirewalled })
	add("Logs", "2 KB at 0.50 a GB", func(n float64) float64 { return n * logKB / 1e6 * perLogGB })
	add("Traces", "5 % of requests at 5 per million", func(n float64) float64 { return n * traced * perTrace })
	add("Traffic out", fmt.Sprintf("%v KB at 0.09 a GB, 0.085 above 10 TB", headersKB+float64(c.KB)), func(n float64) float64 {
		return priced(trafficGB, n*(headersKB+float64(c.KB))/1e6)
	})
	sum := []string{"**Sum**", ""}
	for _, s := range sums {
		sum = append(sum, "**"+dollars(s)+"**")
	}
	return table(2, append(rows, sum)...)
}

// kinds are the units of each kind of request.
func (g *guide) kinds() string {
	rows := [][]string{{"Request", "read units", "write units", "KB", "$ a million"}}
	for _, name := range g.order {
		c := g.costs[name]
		if name == keyLook || name == secondOfRows || name == fillRow {
			continue // no requests of clients
		}
		if of, ok := strings.CutSuffix(name, capped); ok && g.costs[of+uncapped] == (cost{of + uncapped, c.Reads, c.Writes, c.KB}) {
			continue
		} else if of, ok := strings.CutSuffix(name, uncapped); ok && g.costs[of+capped] == (cost{of + capped, c.Reads, c.Writes, c.KB}) {
			name = of
		}
		kb := strconv.Itoa(c.KB)
		if c.KB == 0 {
			kb = ""
		}
		rows = append(rows, []string{name, strconv.FormatFloat(c.Reads, 'g', 4, 64), strconv.FormatFloat(c.Writes, 'g', 4, 64), kb,
			strconv.FormatFloat(1e6*(c.Reads*perRead+c.Writes*perWrite)+float64(c.KB)*trafficGB[0].price, 'f', 2, 64)})
	}
	return table(1, rows...)
}

// fixed is what a month costs whoever calls.
func (g *guide) fixed() string {
	row := func(name, assumption string, cost float64) []string { return []string{name, assumption, dollars(cost)} }
	perSecond := g.costs[secondOfRows].Writes
	copies := g.costs[fillRow].Writes
	return table(2, []string{"Fixed", "Assumption", "a month"},
		row("Fargate", "two tasks of 1 core and 2 GB, arm64, a public address each; one beside [nodes](sources.md#follow-a-node), whose hosts cost more",
			2*hoursAMonth*(perCoreHour+2*perMemoryGBHour+perAddressHour)),
		row("Leases", fmt.Sprintf("each of %d domains has one: a heartbeat a second, four looks a second by the standby; three notes a second of what was pushed and stored", len(catalog.Domains)),
			secondsAMonth*(float64(len(catalog.Domains))*(perWrite+4*perRead)+3*perWrite)),
		row("Rows of K-lines and largest fills", fmt.Sprintf("a busy day: 100 trades a second, half of them of one coin, 17 coins a second: counted %.0f units of writes a second", perSecond),
			secondsAMonth*perSecond*perWrite),
		row("Rows of fills", fmt.Sprintf("beside a node, of the same day: 200 fills a second of %v units each; a million is %s", copies, dollars(1e6*copies*perWrite)),
			secondsAMonth*200*copies*perWrite),
		row("Rows of hourly funding", "beside a node, 300,000 open positions: a row for each payment, and the rows of the accounts that hold them, 2.4M units of writes an hour",
			hoursAMonth*fundingUnits*perWrite),
		row("Stream of connections", fmt.Sprintf("%d shards, each read %d times a second while sockets come and go, at 0.02 per 100,000", shards, polls), secondsAMonth*shards*polls*perStreamRead),
		row("Views", "two a second at 5 per million puts", secondsAMonth*viewsASecond*perPut),
		row("Storage", "each 100 GB in tables: 0.25 a GB, and 0.20 for the restore to any second of 35 days", 100*(perTableGB+perRecoveryGB)),
		row("Alarms, dashboard, Container Insights, key", fmt.Sprintf("%d alarms at 0.10, about %d metrics of %d domains at 0.30, 3, 1", alarms, metrics, len(catalog.Domains)),
			alarms*perAlarm+metrics*perMetric+perDashboardKey),
	)
}

// sockets is what sockets cost.
func (g *guide) sockets() string {
	beat := g.costs[heartbeat+uncapped]
	amounts := []float64{100, 10_000, 100_000}
	month := func(every float64) float64 { return secondsAMonth / every }
	rows := [][]string{
		{"WebSocket", "Assumption", "100", "10k", "100k sockets"},
		line("Connection time", "0.25 per million minutes, all month", amounts, func(n float64) float64 { return n * month(60) * perConnected }),
		line("One frame a second to each", "1.00 per million messages, 0.80 above a billion", amounts, func(n float64) float64 { return priced(messages, n*secondsAMonth) }),
		line("Traffic out", "1 KB a frame at 0.09 a GB, falling to 0.05 above 150 TB", amounts, func(n float64) float64 { return priced(trafficGB, n*secondsAMonth/1e6) }),
		line("Heartbeats", fmt.Sprintf("one in 30 s of each client: a message, 10 ms of Lambda, %s", unitsText(beat)), amounts, func(n float64) float64 {
			sent := n * month(heartbeatEvery)
			return priced(messages, sent) + sent*(perInvocation+messageAnswer*functionMemoryGB*perGBSecond+beat.Reads*perRead+beat.Writes*perWrite)
		}),
		line("Looks at the clients' keys", fmt.Sprintf("each with a key of its own: every 2 s %s", unitsText(g.costs[keyLook])), amounts, func(n float64) float64 {
			return n * month(lookEvery) * g.units(keyLook)
		}),
		line("Probes", "none of them is sent anything: one in 10 s each, a twentieth of `feedRate` in all, at the price of a message", amounts, func(n float64) float64 {
			return priced(messages, secondsAMonth*min(n/probeEvery, g.rate/probeShare))
		}),
	}
	return table(2, rows...)
}

// unitsText names units.
func unitsText(c cost) string {
	var parts []string
	for _, one := range []struct {
		n    float64
		kind string
	}{{c.Reads, "reads"}, {c.Writes, "writes"}} {
		switch one.n {
		case 0:
		case 1:
			parts = append(parts, "a unit of "+one.kind)
		default:
			parts = append(parts, fmt.Sprintf("%.1f units of %s", one.n, one.kind))
		}
	}
	return strings.Join(parts, " and ")
}

// served is how many sockets get all they follow.
func (g *guide) served() string {
	rows := [][]string{{"Each socket follows", "frames a second each", "sockets"}}
	for _, follows := range []struct {
		what   string
		frames float64
	}{
		{"fills and orders of some accounts", 0.1}, {"one quiet coin's trades and prices", 1},
		{"one busy coin's book, two blocks a second", 2}, {"books and trades of ten busy coins", 30},
	} {
		rows = append(rows, []string{follows.what, strconv.FormatFloat(follows.frames, 'g', -1, 64), dollars(math.Floor(g.rate / follows.frames))})
	}
	return table(1, rows...)
}

// dearestListed is how many of the dearest requests the guide lists.
const dearestListed = 20

// dearest are the dearest requests, as the last proof counted them.
func (g *guide) dearest() string {
	rows := [][]string{{"Request, with the most that its parameters allow", "read units", "KB", "$ a million"}}
	for _, c := range g.dear[:min(dearestListed, len(g.dear))] {
		rows = append(rows, []string{"`" + c.Request + "`", strconv.FormatFloat(c.Reads, 'f', 0, 64), strconv.Itoa(c.KB), dollars(1e6 * c.Reads * perRead)})
	}
	return table(1, rows...)
}

// objects are the dearest questions about traders, as the last proof counted them.
func (g *guide) objects() string {
	rows := [][]string{{"Request, with the most that its parameters allow", "read units", "requests for objects", "KB of objects", "$ a million"}}
	for _, q := range g.questions {
		rows = append(rows, []string{"`" + q.Request + "`", strconv.FormatFloat(q.Reads, 'f', 0, 64), strconv.Itoa(q.Objects), strconv.Itoa(q.ObjectKB), dollars(1e6 * (q.Reads*perRead + float64(q.Objects)*perGet))})
	}
	return table(1, rows...)
}

// writeGuide writes the tables into the guide where it is to update them, or fails the
// test where they differ.
func writeGuide(t *testing.T, update bool) {
	t.Helper()
	g := readGuide(t)
	writeChapter(t, "costs", update, map[string]string{
		"requests": g.requests(), "kinds": g.kinds(), "fixed": g.fixed(), "sockets": g.sockets(), "dearest": g.dearest(), "objects": g.objects(),
	})
	writeChapter(t, "scale", update, map[string]string{"served": g.served()})
}

// writeChapter writes the tables of a chapter, by their names.
func writeChapter(t *testing.T, chapter string, update bool, tables map[string]string) {
	t.Helper()
	const end = "<!-- end of table -->"
	path := "../docs/operate/" + chapter + ".md"
	text := must.Get(os.ReadFile(path))(t)
	out := string(text)
	for name, written := range tables {
		begin := "<!-- table of " + name + ": written by make costs -->\n"
		head, rest, found := strings.Cut(out, begin)
		have, tail, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has lost the marks of the table of %s", path, name)
		}
		if have != written && !update {
			t.Errorf("the guide's table of %s is not what was counted: run make generate", name)
		}
		out = head + begin + written + end + tail
	}
	if update {
		must.Do(t, os.WriteFile(path, []byte(out), 0o644))
	}
}

// TestTheGuidesCostsAreWhatWasCounted also where nobody counts again.
func TestTheGuidesCostsAreWhatWasCounted(t *testing.T) {
	if !*apitest.Update && !testenv.Prove() { // then they are written once it was counted
		writeGuide(t, false)
	}
}

// TestTheSumOfARequest holds what the cheapest request for data reads and writes, which
// every other one adds to.
func TestTheSumOfARequest(t *testing.T) {
	t.Parallel()
	g := readGuide(t)
	gate := g.costs[cheapest]
	if gate.Reads != 2 || gate.Writes != 3 {
		t.Errorf("the gate reads %v units and writes %v, want 2 (key, distributor) and 3 (nonce, key, distributor)", gate.Reads, gate.Writes)
	}
	for _, name := range g.order {
		c := g.costs[name]
		if !strings.Contains(name, "rows of a log") {
			continue
		}
		most := gate.Writes
		if c.Reads > gate.Reads+32 {
			most++ // of the share that a distributor has of a partition, of which that much is not counted
		}
		if c.Writes > most || c.Reads <= gate.Reads {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestUnknownAccountsAreNotDear holds the reads of the dearest request for accounts: each row
// at its beginning and once more at its end, and little in between. Asked for again, they are
// neither written nor waited for.
func TestUnknownAccountsAreNotDear(t *testing.T) {
	t.Parallel()
	g := readGuide(t)
	gate, first, again := g.costs[cheapest], g.costs[unknownAccounts], g.costs[unknownAgain]
	if reads := first.Reads - gate.Reads; reads < 50 || reads > 60 {
		t.Errorf("50 accounts that nobody knows read %v units", reads)
	}
	if reads := again.Reads - gate.Reads; reads != 25 || again.Writes != gate.Writes {
		t.Errorf("asked for again they read %v units, and write %v", reads, again.Writes-gate.Writes)
	}
}
