package traders_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"quotary/shared/data/accountchanges"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/testing/must"
	"quotary/shared/testing/testenv"
)

// BenchmarkPublish publishes a table of traders who all hold a position and did something in the last day,
// and before: within an hour, when one in a hundred has changed, and in a new one, when one in five has, which
// are guesses. What the others hold is valued anew, and in a new hour what moves of them is made anew. It
// reads rows from the local DynamoDB engine, and writes to a bucket in its own memory, both of which are in the
// times, the latter in the processor's seconds and in the memory too. QUOTARY_PROVE has it publish 200,000 of them.
//
// Measured on two cores of an AMD EPYC with five times the work: of 10,000 rows 0.5 s of them within an hour and
// 1.8 in a new one, of 50,000 2.1 and 8.3. So 200,000 take 8 s within an hour, nearly all of it for writing the
// file, and 33 once an hour. Of these a quarter is the SDK, with 0.1 ms for a question: who has changed is asked
// about one by one, as keys by the hundred are billed one by one, and a day's row is a twentieth of what a unit holds.
func BenchmarkPublish(b *testing.B) {
	n := testenv.Amount(10_000, 200_000)
	w := open(b)
	w.fill(n)
	work := w.term()
	must.Do(b, work.Publish(b.Context()))
	w.ms += 2 * hourMs
	must.Do(b, work.Publish(b.Context())) // all were noted just before the first version, and are made once more
	step := func(name string, ms int64, changed int) {
		b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
			before := processor(b)
			for b.Loop() {
				w.ms += ms
				w.mark(strconv.Itoa(100+b.N%7), "8")
				w.noteMany(changed)
				must.Do(b, work.Publish(b.Context()))
			}
			b.ReportMetric((processor(b)-before).Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(peak(b), "MB-peak")
			if hot := work.Status().Figures[0].Value; hot != int64(n) {
				b.Errorf("%d of %d rows are hot", hot, n)
			}
		})
	}
	step("within an hour", 5*60_000, n/100)
	step("in a new hour", hourMs, n/5)
}

// fill makes accounts, of which some hundred are different.
func (w *world) fill(n int) {
	var models []*account
	for i := range 128 {
		ms := w.ms - int64(i%20)*hourMs
		a := &account{did: market.FactsByHour{}, worth: map[int64]market.Decimal{}, state: &market.Account{Time: w.ms, Since: 1}}
		a.trade(w.ms, "BTC", "2")
		for _, ago := range []int64{0, 3 * hourMs, 9 * dayMs} {
			a.do(i, ms-ago)
		}
		models = append(models, a)
	}
	var rows []store.SeriesRow
	for i := range n {
		address := market.AddressOf(manyAddress(i))
		for _, row := range models[i%len(models)].rows() {
			row.Key = address
			rows = append(rows, row)
		}
		if len(rows) > 10_000 || i == n-1 {
			storetest.PutSeries(w.t, w.Series, rows...)
			rows = rows[:0]
		}
	}
	w.noteMany(n)
}

// noteMany notes the first of the accounts as changed.
func (w *world) noteMany(n int) {
	var c accountchanges.Changes
	for i := range n {
		c.Did = append(c.Did, accountchanges.Did{Address: manyAddress(i), Since: market.Hour1.StartMs(w.ms)})
	}
	must.Do(w.t, w.Log.Put(w.t.Context(), accountchanges.Name, accountchanges.Rows(w.now(), &c)))
}

func manyAddress(i int) table.Address {
	return table.Address{0: byte(i * 7), 17: byte(i >> 16), 18: byte(i >> 8), 19: byte(i)}
}

// processor is the time that the process has had of processors.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peak is the most memory that the process has had, MB; 0 where the system does not say it.
func peak(b *testing.B) float64 {
	b.Helper()
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); fields[0] == "VmHWM:" {
			return float64(must.Get(strconv.Atoi(fields[1]))(b)) / 1024
		}
	}
	return 0
}
