package events_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/perp"
	"quotary/shared/data/fills"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/schema"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// What the venue trades on a busy day, all its markets together: half of the trades are
// of one coin, and 17 coins trade in a second.
const (
	tradesASecond = 100
	coinsTraded   = 200
	tradeShares   = 1.7 // the exponent of a coin's share by its rank
	tradedFor     = 20  // seconds
)

// rows counts the rows of a second of trading, written as the ingester does, once a
// second.
func (c *costs) rows() {
	db := c.rules.DynamoDB(c.DB)
	series, log := store.NewSeries(db, c.Prefix+schema.SeriesTable), store.NewLog(db, c.Prefix+schema.LogTable)
	projections, _ := perp.Projections()
	projections = projections[:2] // klines and top fills, which their names say
	random := rand.New(rand.NewPCG(1, 2))
	coins := rand.NewZipf(random, tradeShares, 1, coinsTraded-1)
	// The first seconds begin buckets of all lengths.
	const warm = 3
	for second := range tradedFor + warm {
		if second == warm {
			c.rules.Take()
		}
		b, now := perp.NewBatch(), time.UnixMilli(costsFrom+1000*int64(second)).UTC()
		for n := range int64(tradesASecond) {
			b.Fills = append(b.Fills, bothSides(random, int(coins.Uint64()), int64(second)*tradesASecond+n, now.UnixMilli()+10*n)...)
		}
		for _, row := range c.changed(projections, b, now.Add(time.Second)) {
			must.Do(c.t, series.Put(c.t.Context(), row))
		}
	}
	c.noteShare(secondOfRows, tradedFor)
	var list []market.Fill
	for n := range int64(250) {
		list = append(list, bothSides(random, 0, 1_000_000+n, costsFrom+n)...)
	}
	storetest.PutLog(c.t, log, fills.Name, fills.AppendRows, list...)
	c.noteShare(fillRow, float64(len(list)))
}

// noteShare notes one of n parts of what was counted.
func (c *costs) noteShare(request string, n float64) {
	c.note(request, nil)
	last := &c.counted[len(c.counted)-1]
	last.Reads, last.Writes = last.Reads/n, last.Writes/n
}

// changed are the rows that change by a batch, of which none was stored before the
// projections began.
func (c *costs) changed(projections []perp.Projection, b *perp.Batch, now time.Time) (rows [][]store.SeriesRow) {
	reads := engine.NewReads()
	for {
		for _, p := range projections {
			p.Prefetch(b, reads)
		}
		if latest, at := reads.Wanted(); len(latest)+len(at) == 0 {
			break
		}
		reads.Fill(nil, nil)
	}
	for _, p := range projections {
		must.Do(c.t, p.Apply(b, reads, now))
	}
	for _, p := range projections {
		changes := p.Changes(now, false)
		rows = append(rows, changes.Coarse, changes.Fine)
	}
	return rows
}

// bothSides are the fills of a trade.
func bothSides(random *rand.Rand, coin int, n, ms int64) []market.Fill {
	buyer := market.Fill{
		Address: fmt.Sprintf("0x%040x", random.IntN(2000)), Coin: fmt.Sprintf("COIN%d", coin), Px: fmt.Sprintf("%d.%d", 60_000+random.IntN(99), n%10),
		Sz: fmt.Sprintf("%d.%05d", random.IntN(3), n%100_000), Side: market.Buy, Time: ms, StartPosition: "12.5", Dir: "Open Long", ClosedPnl: "0.0",
		Hash: fmt.Sprintf("0x%064x", n), Oid: 349_162_667_230 + 2*n, Crossed: n%2 == 0, Fee: "0.123456", Tid: 868_180_814_349_127 + n, FeeToken: "USDC", Seq: 2 * n,
	}
	seller := buyer
	seller.Address, seller.Side, seller.Dir, seller.Oid, seller.Crossed, seller.Seq = fmt.Sprintf("0x%040x", 2000+random.IntN(2000)), market.Sell, "Open Short", buyer.Oid+1, !buyer.Crossed, buyer.Seq+1
	return []market.Fill{buyer, seller}
}
