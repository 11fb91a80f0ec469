package venue

// state is everything that the next block depends on, in one value that gob
// writes into a snapshot. Resting orders are kept beside it (see snapshot.go).
type state struct {
	Seed    uint64
	Traders int
	Rates   rates
	Modes   bool
	Rng     rng
	Origin  int64 // first block's time, Unix nanoseconds
	Time    int64 // last block's time, Unix nanoseconds
	LayTo   int64 // end of the laid history, Unix nanoseconds
	Block   int64 // last block's number
	Tx      int64 // action count inside the block, for hashes
	LastOid int64
	LastTid int64
	LastTwp int64
	Budget  int64 // thousandths of a fill that traders may still make
	Coarse  bool  // the last block was a long one
	Market  int64 // common drift of all coins, parts per 1e9 per second
	Mk      []marketState
	Acc     []account
	Twaps   []twap

	PerpFees       int64   // collected, millionths of a USDC, builders' part excluded
	SpotFees       []int64 // collected, by token, hundred-millionths
	DexFees        []int64 // by collateral but USDC: fees, builders' part and residue of funding, millionths
	BuilderFees    []int64 // by builder, millionths of a USDC
	FundingResidue int64   // what rounding left between longs and shorts, millionths
	Deposited      int64   // millionths of a USDC, perp side
	Withdrawn      int64   // fee included
	WithdrawFees   int64
	Pool           []int64 // what borrowers have drawn beyond what was supplied, negated; hundred-millionths by token
	Interest       []int64 // booked to suppliers less to borrowers, hundred-millionths by token
	Genesis        []int64 // tokens issued, hundred-millionths
	Liquidations   [2]int64
	Deleveraged    int64
	Squeezed       int64 // how many times an account was to be squeezed
}

// marketState is what changes about a market.
type marketState struct {
	Latent  int64 // oracle price times 1e6
	Oracle  int64
	Mark    int64
	Last    int64 // last trade's price, 0 before the first
	Basis   int64 // premium that makers quote around, parts per 1e9
	EMA     int64 // smoothed mid minus oracle, times 1e6
	Drift   int64 // parts per 1e9 per second
	DriftTo int64 // Unix ms at which the drift is drawn again
	PremSum int64 // samples of the premium since the last funding, parts per 1e10
	PremN   int64
	Rate    int64 // last paid hourly rate, parts per 1e10
	Premium int64 // last sample
	Volume  int64 // all time, quote units
	Base    int64 // all time, size units
	Trades  int64
	Funding []fundingPoint
	Tape    []tradeRec
	Minutes []candle
	Hours   []candle
	WideTo  int64   // Unix ms until which makers quote wide and thin
	Quoted  []int64 // per maker of the coin: price that its quotes are centered on
}

type fundingPoint struct {
	Time, Rate, Premium int64 // ms; parts per 1e10
}

// tradeRec is one trade as the trades channel shows it.
type tradeRec struct {
	Px, Sz, Time, Tid int64
	Tx                uint64
	Buy               bool // the taker bought
	Buyer, Seller     int32
}

// position is one trader's position in one perp. Cost is the signed sum of
// price times size that is still open, so that unrealized PnL is Szi*mark-Cost.
type position struct {
	Szi, Cost int64
	Lev       int64
	Set       int64 // leverage that the trader chose last, 0 before the first time; outlives the position
	Iso       bool
	Margin    int64 // cash set aside for an isolated position
	Opened    int64 // ms
	// Funding paid (positive) or received, as cumFunding on the wire.
	FundAll, FundOpen, FundChange int64
	Realized                      int64 // sum of closedPnl
	Fees                          int64
	Volume                        int64
}

type account struct {
	Joined      bool
	Mode        mode
	LastForced  int64      // ms of the last forced close
	Cash        [2]int64   // of the first dexes, millionths of their collateral; see [account.cash]
	CashMore    [1]int64   // of those that only a venue with modes has
	Pos         []position // by perp index
	Tok         []int64    // by token, hundred-millionths
	TokCost     []int64    // entry cost of the balance, hundred-millionths of a USDC
	NetPerp     int64      // net transfers into the perp side, millionths
	NetSpot     int64      // net transfers into the spot side, millionths
	Deposited   int64
	Withdrawn   int64
	Vlm         int64 // perp volume, millionths
	SpotVlm     int64 // spot volume, hundred-millionths
	Days        []dayVolume
	Fills       []fill
	Orders      []orderRec
	Fundings    []fundingRec
	Ledger      []ledgerRec
	Twapped     []twapRec
	Equity      []equityPoint
	Adjusted    adjustments
	Backs       uint64 // bit of each token that backs positions; see [engine.backs]
	Backings    []TruthBacking
	Loans       []loan // by token; nil before the first
	ModeChanges int64
	open        []*order // resting and trigger orders, oldest first
}

// adjustments counts what a trader changed about open positions. No stream of the node
// tells of it.
type adjustments struct{ Leverage, MarginIn, MarginOut int64 }

type dayVolume struct{ Day, Cross, Add int64 } // Unix day; millionths

type fundingRec struct {
	Time, Usdc, Szi, Rate int64
	Coin                  int16
}

// ledgerRec keeps the delta as it goes on the wire.
type ledgerRec struct {
	Time  int64
	Tx    uint64
	Delta string
}

type twapRec struct {
	Time   int64
	Twap   twap
	Status string
}

// equityPoint is one sample of the portfolio history, all in millionths of a
// USDC and cumulative where a sum.
type equityPoint struct {
	Time, Perp, Spot, InPerp, InAll, Vlm, VlmAll int64
}

// Ring depths. What is older is forgotten by /info, never by the node files.
const (
	depthFills    = 500 // per trader
	depthOrders   = 300
	depthFundings = 500
	depthLedger   = 200
	depthTwaps    = 50
	depthEquity   = 24 * 90
	depthTape     = 200 // per market
	depthMinutes  = 5000
	depthHours    = 5000
	depthRates    = 24 * 90
)

// push appends to a bounded history: it grows to twice the depth before the
// older half goes, so that the cost is constant on average.
func push[T any](list []T, v T, depth int) []T {
	if len(list) >= 2*depth {
		n := copy(list, list[len(list)-depth:])
		clear(list[n:])
		list = list[:n]
	}
	return append(list, v)
}

// last returns the newest depth elements.
func last[T any](list []T, depth int) []T {
	return list[max(0, len(list)-depth):]
}
