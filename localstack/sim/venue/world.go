package venue

import (
	"encoding/hex"
	"strings"

	"quotary/localstack/sim/prices"
)

// market is what never changes about a perp or a spot pair.
type market struct {
	Name   string // as on the wire: BTC, sim:GOLD, PURR/USDC, @107
	Dex    int    // index into dexes; perps only
	Spot   bool
	SzDec  int
	PxDec  int // 6-SzDec for perps, 8-SzDec for spot
	MaxLev int64
	Table  int // margin table id
	Tiers  []tier
	Start  int64                // first oracle price
	walk   func(ms int64) int64 // price around which the oracle moves; nil: Start
	Vol    int64                // deviation, parts per 1e9 per square root of a millisecond
	Beta   int64                // percent of the common market factor in its moves
	Level  int64                // USDC (millionths) that a maker quotes per level
	Follow int                  // spot: the perp whose oracle it follows, or -1
	Token  int                  // spot: base token
	Pair   int                  // spot: universe index
}

// quoteDec is the number of decimals of price times size.
func (m *market) quoteDec() int {
	if m.Spot {
		return 8
	}
	return 6
}

// tier is one row of a margin table: from Lower (millionths of a USDC of
// notional) on, at most MaxLev; Deduct keeps the maintenance margin continuous.
type tier struct {
	Lower  int64
	MaxLev int64
	Deduct int64
}

// maintenance returns the maintenance margin of a notional: half the initial
// margin at the tier's highest leverage, less the tier's deduction.
func maintenance(tiers []tier, notional int64) int64 {
	t := tierOf(tiers, notional)
	return (notional+2*t.MaxLev-1)/(2*t.MaxLev) - t.Deduct
}

func tierOf(tiers []tier, notional int64) tier {
	t := tiers[0]
	for _, next := range tiers[1:] {
		if notional < next.Lower {
			break
		}
		t = next
	}
	return t
}

// dex is a place where perps are traded: the venue's own, which has no name, or a builder's.
type dex struct {
	name, fullName string
	token          int // collateral, in which cash, PnL, fees and funding are
}

var dexes = []dex{{}, {name: "sim", fullName: "Simulated builder-deployed dex"}}

// modeDexes are the dexes where [Config.Modes] is set.
var modeDexes = append(dexes[:2:2], dex{name: "simh", fullName: "Simulated dex with another collateral", token: usdh})

type marginTable struct {
	id          int
	description string
	rows        [][2]int64 // lower bound in USDC, max leverage
}

var marginTables = []marginTable{
	{50, "", [][2]int64{{0, 50}}},
	{51, "tiered 10x", [][2]int64{{0, 10}, {3_000_000, 5}}},
	{52, "tiered 10x (2)", [][2]int64{{0, 10}, {20_000_000, 5}}},
	{53, "tiered 20x", [][2]int64{{0, 20}, {40_000_000, 10}}},
	{54, "tiered 20x (2)", [][2]int64{{0, 20}, {70_000_000, 10}}},
	{55, "tiered 25x", [][2]int64{{0, 25}, {100_000_000, 15}}},
	{56, "tiered 40x", [][2]int64{{0, 40}, {150_000_000, 20}}},
}

// tiersOf builds the tiers of a margin table; ids up to 50 are untiered tables
// of that leverage.
func tiersOf(table int) []tier {
	if table <= 50 {
		return []tier{{MaxLev: int64(table)}}
	}
	rows := marginTables[table-50].rows
	out := make([]tier, len(rows))
	for i, r := range rows {
		out[i] = tier{Lower: r[0] * usd, MaxLev: r[1]}
		if i > 0 {
			prev := out[i-1]
			out[i].Deduct = prev.Deduct + out[i].Lower/(2*r[1]) - out[i].Lower/(2*prev.MaxLev)
		}
	}
	return out
}

type token struct {
	name     string
	szDec    int
	weiDec   int
	fullName string
	genesis  int64 // tokens that each maker of its pair begins with
}

var tokens = []token{
	{name: "USDC", szDec: 8, weiDec: 8},
	{name: "PURR", szDec: 0, weiDec: 5, fullName: "Simulated Purr", genesis: 40_000_000},
	{name: "HYPE", szDec: 2, weiDec: 8, fullName: "Simulated Hype", genesis: 400_000},
	{name: "UBTC", szDec: 5, weiDec: 8, fullName: "Simulated Unit Bitcoin", genesis: 150},
}

// usdh is the token that is the collateral of a dex; see [modeDexes].
const usdh = 4

// modeTokens are the tokens where [Config.Modes] is set.
var modeTokens = append(tokens[:usdh:usdh], token{name: "USDH", szDec: 2, weiDec: 8, fullName: "Simulated Dollar", genesis: 2_000_000})

func perp(name string, dex, szDec, table int, start, vol, beta, level int64) market {
	tiers := tiersOf(table)
	return market{Name: name, Dex: dex, SzDec: szDec, PxDec: 6 - szDec, MaxLev: tiers[0].MaxLev, Table: table,
		Tiers: tiers, Start: start, Vol: vol, Beta: beta, Level: level * usd, Follow: -1}
}

// coin is a perp of a coin that package prices knows. A name that begins with k stands for
// a thousand coins.
func coin(seed uint64, name string, szDec, table int, vol, beta, level int64) market {
	m := perp(name, 0, szDec, table, 0, vol, beta, level)
	short, thousand := strings.CutPrefix(name, "k")
	walk, places := prices.WalkOf(seed, short), m.PxDec
	if thousand {
		places += 3
	}
	m.Start = walk.Start(places)
	m.walk = func(ms int64) int64 { return walk.At(ms, places) }
	return m
}

func pair(name string, index, base, szDec int, start, vol, level int64, follow int) market {
	return market{Name: name, Spot: true, SzDec: szDec, PxDec: 8 - szDec, Start: start, Vol: vol, Beta: 60,
		Level: level * spotUnit, Follow: follow, Token: base, Pair: index}
}

// newMarkets lists the perps first (the main dex, then the builder's), then spot.
func newMarkets(seed uint64, modes bool) []market {
	perps := []market{
		coin(seed, "BTC", 5, 56, 2600, 100, 400_000),
		coin(seed, "ETH", 4, 55, 3500, 120, 250_000),
		coin(seed, "SOL", 2, 54, 4600, 130, 120_000),
		coin(seed, "HYPE", 2, 52, 5400, 110, 80_000),
		coin(seed, "DOGE", 0, 52, 5200, 130, 50_000),
		coin(seed, "XRP", 0, 53, 4600, 110, 60_000),
		coin(seed, "kPEPE", 0, 51, 6800, 150, 25_000),
		coin(seed, "ARB", 1, 51, 5600, 130, 25_000),
		perp("sim:GOLD", 1, 4, 20, 2_700_00, 900, 10, 60_000),
		perp("sim:TSLA", 1, 3, 10, 340_000, 3400, 60, 30_000),
	}
	spots := []market{
		pair("PURR/USDC", 0, 1, 0, 18_000_000, 5600, 15_000, -1),
		pair("@107", 107, 2, 2, 32_000_000, 5400, 40_000, 3),
		pair("@142", 142, 3, 5, 98_000_000, 2600, 60_000, 0),
	}
	if modes {
		perps = append(perps, perp("simh:OIL", 2, 2, 20, 78_0000, 2600, 20, 30_000),
			perp("simh:NVDA", 2, 3, 10, 180_000, 3600, 60, 20_000))
		spots = append(spots, pair("@230", 230, usdh, 2, 1_000_000, 30, 50_000, -1))
	}
	return append(perps, spots...)
}

type kind uint8

const (
	kindVault kind = iota // takes over what the book cannot liquidate
	kindMaker
	kindWhale
	kindTrend
	kindScalper
	kindIsolated
	kindDegen
	kindTwap
	kindBuilder
	kindPassive
	kindSpot
	kindDuster // sells the dust of all
)

// profile is a trader's fixed character, derived from the seed.
type profile struct {
	Addr    string
	Kind    kind
	Coins   []int // markets it trades
	Lev     int64
	Iso     bool  // its positions are isolated; of others some: see [engine.isolated]
	Equity  int64 // millionths of a USDC that it deposits
	Builder int   // index into builders, or -1
	BldBps  int64 // builder fee in tenths of a basis point
	Cloids  bool
	Patient int64 // percent of its chances to act that a position is left alone
	Veteran bool  // active in the coarse history too
	Taker   int64 // perp fee rates, parts per million
	Maker   int64
	Mode    mode // that it begins with
	Fickle  bool // it changes between unified and standard now and then
}

const (
	vault       = 0 // the liquidator's index among the traders
	makers      = 12
	builders    = 3
	makersPerMk = 3
)

// newProfiles derives the traders of a seed. The vault and the makers come
// first; behind all of them is the account of [engine.convertDust], which is no trader.
func newProfiles(seed uint64, count int, mk []market) []profile {
	r := rng{S: seed ^ 0x7261_6465_7273}
	out := make([]profile, 0, count)
	out = append(out, profile{Kind: kindVault, Equity: 60_000_000 * usd, Lev: 5, Builder: -1, Veteran: true})
	for i := range makers {
		p := profile{Kind: kindMaker, Equity: r.between(25, 40) * 1_000_000 * usd, Lev: 5, Builder: -1, Cloids: true,
			Veteran: true, Taker: 240, Maker: -20}
		for c := range mk {
			if (c*makersPerMk+makers-i)%makers < makersPerMk {
				p.Coins = append(p.Coins, c)
			}
		}
		out = append(out, p)
	}
	perps := perpCount(mk)
	for len(out) < count {
		out = append(out, newTrader(&r, mk, perps))
	}
	for i := range out {
		out[i].Addr = address(seed, uint64(i))
	}
	return append(out, profile{Kind: kindDuster, Addr: dusterAddr, Builder: -1})
}

// newTrader draws one trader that is not a maker.
func newTrader(r *rng, mk []market, perps int) profile {
	p := profile{Builder: -1, Taker: 450, Maker: 150, Cloids: r.percent(30), Veteran: r.percent(15)}
	var lo, hi int64 // USDC
	var levLo, levHi int64
	switch x := r.n(100); {
	case x < 5:
		p.Kind, lo, hi, levLo, levHi = kindWhale, 2_000_000, 15_000_000, 3, 10
		p.Taker, p.Maker = 300, 50
	case x < 32:
		p.Kind, lo, hi, levLo, levHi = kindTrend, 5_000, 200_000, 3, 20
	case x < 46:
		p.Kind, lo, hi, levLo, levHi = kindScalper, 2_000, 50_000, 5, 25
	case x < 58:
		p.Kind, lo, hi, levLo, levHi = kindIsolated, 1_000, 50_000, 5, 20
		p.Iso = true
	case x < 69:
		p.Kind, lo, hi, levLo, levHi = kindDegen, 200, 6_000, 20, 40
		p.Iso = r.percent(40)
	case x < 77:
		p.Kind, lo, hi, levLo, levHi = kindTwap, 50_000, 2_000_000, 2, 5
	case x < 89:
		p.Kind, lo, hi, levLo, levHi = kindBuilder, 1_000, 60_000, 3, 15
		p.Builder, p.BldBps = int(r.n(builders)), r.between(1, 10)*10
	case x < 93:
		p.Kind, lo, hi, levLo, levHi = kindPassive, 5_000, 300_000, 2, 8
	default:
		p.Kind, lo, hi, levLo, levHi = kindSpot, 2_000, 150_000, 1, 1
	}
	p.Patient = patience[p.Kind]
	p.Lev = r.between(levLo, levHi)
	p.Equity = logBetween(r, lo, hi) * usd
	p.Coins = favorites(r, p.Kind, mk, perps)
	return p
}

var patience = map[kind]int64{kindWhale: 93, kindTrend: 70, kindIsolated: 70, kindDegen: 50, kindTwap: 85,
	kindBuilder: 60, kindPassive: 75}

// logBetween draws from [lo, hi] with most of the weight on small numbers.
func logBetween(r *rng, lo, hi int64) int64 {
	for range 3 {
		mid := isqrt(lo * hi)
		if r.percent(60) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return r.between(lo, max(hi, lo))
}

// favorites draws two to four markets; the first ones of the list are the most
// popular, as on a real venue.
func favorites(r *rng, k kind, mk []market, perps int) []int {
	var out []int
	lo, hi := 0, perps
	if k == kindSpot {
		lo, hi = perps, len(mk)
	}
	want := int(r.between(2, 4))
	for len(out) < min(want, hi-lo) {
		c := lo + int(min(r.n(int64(hi-lo)), r.n(int64(hi-lo))))
		if !contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

func perpCount(mk []market) int {
	n := 0
	for _, m := range mk {
		if !m.Spot {
			n++
		}
	}
	return n
}

// address derives the nth address of a seed.
func address(seed, n uint64) string {
	h := hash32(seed^0x61646472, n)
	return "0x" + hex.EncodeToString(h[:20])
}

// builderAddr is the address of a builder front end. Those of all but the last trade too.
func (e *engine) builderAddr(n int) string {
	if first := vault + 1 + makers; n < builders-1 && first+n < e.Traders {
		return e.prof[first+n].Addr
	}
	return address(e.Seed, 1<<40+uint64(n))
}

// hash32 derives 32 bytes from two numbers.
func hash32(a, b uint64) (h [32]byte) {
	x := mix64(a) ^ b*0x9e3779b97f4a7c15
	for i := 0; i < 32; i += 8 {
		x = mix64(x + 0x9e3779b97f4a7c15)
		for j := range 8 {
			h[i+j] = byte(x >> (8 * j))
		}
	}
	return h
}
