package datatest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
)

// PublishTraders publishes a version of the table of traders of one file, as the ingester does, and a
// history, see [PublishHistory].
func PublishTraders(t testing.TB, client *s3.Client, bucket string, version int64, list []traders.Trader) {
	t.Helper()
	part := traders.Part(list)
	part.Tier, part.Version = "hot", version
	body := must.Get(tablefile.Bytes(traders.Columns(), part))(t)
	file := tablefile.Named{Key: fmt.Sprintf("%s%d-hot.parquet", traders.Prefix, version), Bytes: int64(len(body))}
	must.Get(client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &file.Key, Body: bytes.NewReader(body)}))(t)
	PublishHistory(t, client, bucket, version, list)
	storetest.Publish(t, store.NewViews(client, bucket), traders.Newest, tablefile.Manifest{Version: version, Files: []tablefile.Named{file}})
}

// OpenTraders opens the table of traders.
func OpenTraders(views *store.Views, client *s3.Client, bucket string) *tablefile.Reader {
	newest := traders.Newest.Open(views, time.Now)
	return tablefile.NewReader(traders.Columns(), newest.Get, &tablefile.Bucket{Client: client, Name: bucket}, 1<<26)
}

// ReadTraders reads the newest version of the table: the row of each trader with all figures, in the order
// of [traderfields.Columns], and behind them the texts, in that of [traderfields.TextFields].
func ReadTraders(t testing.TB, r *tablefile.Reader) (version int64, rows map[table.Address]tablefile.Row) {
	t.Helper()
	var show []int
	for i := range traderfields.Columns() {
		show = append(show, i)
	}
	for _, f := range traderfields.TextFields() {
		column, _ := traders.Column(f.Name)
		show = append(show, column)
	}
	a := must.Get(r.Ask(t.Context(), &table.Query{Unordered: true, Limit: 1 << 20}, show))(t)
	rows = map[table.Address]tablefile.Row{}
	for _, row := range a.Rows {
		if _, twice := rows[row.Address]; twice {
			t.Fatalf("%s has two rows", market.AddressOf(row.Address))
		}
		rows[row.Address] = row
	}
	return a.Version, rows
}

// Traders are made-up ones with the addresses 1 to n, the same for the same numbers, as of a time, ms.
// Every eighth did nothing, and every sixth holds nothing that is known. Every seventh is a vault that the
// one before it leads, and of every fifth it is not known whether it is one. On which
// other venues one trades is known of three in four.
func Traders(n int, now int64) []traders.Trader {
	r := rand.New(rand.NewPCG(uint64(n), 7)) //nolint:gosec // they are to be the same each time
	list := make([]traders.Trader, n)
	for i := range list {
		of := &list[i]
		of.Address = table.Address{18: byte((i + 1) >> 8), 19: byte(i + 1)} //nolint:gosec // its two bytes
		of.Did, of.Worth, of.Fell = map[traderfields.Period]*market.Window{}, map[traderfields.Period]traderfields.Worth{}, map[traderfields.Period]*market.Drawdown{}
		for _, p := range traderfields.Periods {
			w := &market.Window{}
			if (i+1)%8 != 0 {
				w.Did = madeUpFacts(r, now)
			}
			of.Did[p] = w
			high := market.AccountValue{Time: now - int64(r.IntN(1_000_000)), Value: market.Micros(1+r.IntN(50)) * 1_000_000}
			low := market.AccountValue{Time: high.Time + 1000, Value: high.Value / 2, NetIn: 5}
			of.Worth[p] = traderfields.Worth{Perp: &traderfields.Ends{First: high, Last: low}, Total: &traderfields.Ends{First: low, Last: high}}
			of.Fell[p] = &market.Drawdown{High: high, Low: low, NetIn: 5, Fraction: float64(r.IntN(10)) / 10}
		}
		of.Vault, of.Other = madeUpRole(i+1, now), madeUpVenues(i+1)
		if (i+1)%6 != 0 {
			of.Holds = madeUpHoldings(r)
		}
	}
	return list
}

// madeUpVenues are the other venues on which trader n trades: of one in four it is not known, and another one
// trades on none.
func madeUpVenues(n int) *traderfields.OtherVenues {
	if n%4 == 0 {
		return nil
	}
	return &traderfields.OtherVenues{Names: []string{"Venue A", "Venue B", "Venue C"}[n%3:][:min(3-n%3, n%4-1)]}
}

// madeUpRole is what vaults have to do with trader n.
func madeUpRole(n int, now int64) *traderfields.VaultRole {
	switch {
	case n%5 == 0:
		return nil // which is not known
	case n%7 == 0:
		return &traderfields.VaultRole{Created: now - int64(n)*86_400_000, Name: fmt.Sprintf("Vault %d", n%3), Leader: fmt.Sprintf("0x%040x", n-1)}
	case (n+1)%7 == 0:
		return &traderfields.VaultRole{Led: 2, Leads: 1}
	}
	return nil
}

// amount is one of few different ones, with decimal places and below 0 too.
func amount(r *rand.Rand) market.Decimal {
	return market.Micros(r.Int64N(41)*12_345_678_900 - 200_000_000_000).Decimal()
}

func madeUpFacts(r *rand.Rand, now int64) (f market.Facts) {
	direction := func() (s market.PositionSum) {
		s.Wins, s.Losses = r.Int64N(9), r.Int64N(9)
		s.Count = s.Wins + s.Losses
		s.Won, s.Lost = amount(r).Abs(), amount(r).Abs().Neg()
		return s
	}
	fills := func() market.FillSum {
		return market.FillSum{Count: r.Int64N(300), Value: amount(r).Abs(), Fee: amount(r)}
	}
	f.Closed = market.PositionFacts{
		Long: direction(), Short: direction(), MaxPnl: amount(r), MinPnl: amount(r).Neg(), Duration: r.Int64N(1e9), MaxDuration: r.Int64N(1e8), MinDuration: r.Int64N(1e6),
		OpenOrders: r.Int64N(30), CloseOrders: r.Int64N(30), Funding: amount(r), Value: amount(r).Abs(), Levered: 1 + r.Int64N(5), Leverage: r.Int64N(100), Margin: amount(r).Abs(), MarginPnl: amount(r),
	}
	f.Perp, f.Spot = market.FillFacts{Maker: fills(), Taker: fills()}, market.FillFacts{Maker: fills()}
	for _, coin := range []string{"BTC", "ETH", "SOL", "xyz:GOLD"} {
		if r.IntN(2) == 0 {
			f.Coins = append(f.Coins, coin)
		}
	}
	f.Placed = market.OrderTimes{Count: r.Int64N(3), First: now - r.Int64N(1e10), Last: now - r.Int64N(1e9)}
	f.Filled = market.OrderTimes{Count: r.Int64N(3), First: now - r.Int64N(1e10), Last: now - r.Int64N(1e9)}
	f.Routed.Traders.First, f.LiquidatedLong.Orders.First = r.Int64N(2), r.Int64N(2)
	f.Flows = market.FlowSum{Count: r.Int64N(4), Perp: amount(r), Spot: amount(r)}
	return f
}

func madeUpHoldings(r *rand.Rand) *market.AccountSummary {
	return &market.AccountSummary{
		Worth: market.Worth{Perp: amount(r), Spot: amount(r).Abs(), PerpKnown: true, SpotKnown: r.IntN(3) > 0},
		Long:  market.PositionsHeld{Count: r.Int64N(4), Value: amount(r).Abs()}, Short: market.PositionsHeld{Count: r.Int64N(4), Value: amount(r).Abs()},
		Marked: true, CostsKnown: true, UnrealizedPnl: amount(r), MarginUsed: amount(r).Abs(), MarginKnown: true, BalancesKnown: true, USDC: amount(r),
	}
}
