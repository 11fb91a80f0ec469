package catalog

import (
	"encoding/json"
	"slices"
	"time"
)

// The pass to the venue's own kind of question, and states of many accounts.
var (
	// Answers the venue's own kinds of question, by the type in the body.
	Info = route[InfoIn, json.RawMessage]("POST", "/upgrade/v2/hl/info", PerpInfo, action("HL_INFO"), EnvelopeB).needs(VenueTrades, VenueMeta, VenueMids, VenueContexts, VenueBooks, VenueFills, VenueOrders, VenueLedgers, VenuePayments, VenueAccounts).fromVenue()

	// Answers the same questions exactly as the venue does, for clients of the venue: without an
	// envelope, and with its text and status 422 for what it would not take.
	VenueInfo = addition[InfoIn, VenueAnswer]("POST", "/upgrade/v2/hl/venue/info", PerpInfo, action("HL_INFO"), EnvelopeB).needs(Info.Needs...).fromVenue()
)

var _ = does(PerpInfo, readLog, readSeries, loadSeries, readViews,
	askIngester,                                                             // for accounts
	readDocuments, environment(EnvHyperliquidURL.Name, EnvRelayWeight.Name)) // for what the venue alone knows

// InfoTypes are all types of question that POST /info takes, in the order in which they
// are listed to a caller.
var InfoTypes = slices.Concat(infoTypes, relayedTypes)

var infoTypes = []Variant{
	{Name: "allMids", From: VenueMids, Takes: []string{"dex"}, About: "The mid prices of the coins of a dex: an object of decimal strings by the names of the coins."},
	{Name: "meta", From: VenueMeta, Takes: []string{"dex"}, About: "What the perpetuals of a dex are: universe, with size decimals and the highest leverage of each coin, and the margin tables."},
	{Name: "spotMeta", From: VenueMeta, About: "What the spot tokens and pairs are: tokens and universe."},
	{Name: "candleSnapshot", From: VenueTrades, Needs: []string{"req"}, About: "The candles of a coin in a span, oldest first: {t, T, s, i, o, c, h, l, v, n}. Where nothing was traded since the first trade they are flat, with v 0 and n 0. Of more than the 5,000 that one answer holds it has the newest."},
	{Name: "fundingHistory", From: VenueFunding, Needs: []string{"coin", "startTime"}, Takes: []string{"endTime"}, About: "The hourly funding rates of a coin in a span, oldest first: {coin, fundingRate, premium, time}. Of more than one answer holds it has the oldest: continue from the last time."},
	{Name: "historicalOrders", From: VenueOrders, Needs: []string{"user"}, About: "The statuses of the orders of an account, newest first, 2,000 at most: {order, status, statusTimestamp}. An order has a row for each of its statuses."},
	{Name: "l2Book", From: VenueBooks, Needs: []string{"coin"}, Takes: []string{"nSigFigs", "mantissa"}, About: "The order book of a coin: {coin, time, levels: [bids, asks]}, best first, each level {px, sz, n}."},
	{Name: "metaAndAssetCtxs", From: VenueContexts, Takes: []string{"dex"}, About: "A list of two: what meta answers, and the figures of the same coins in the same order (funding, open interest, prices, volume of the day)."},
	{Name: "orderStatus", From: VenueOrders, Needs: []string{"user", "oid"}, About: "The newest status of an order of an account: {order, status, statusTimestamp}; null where nothing is known of it."},
	{Name: "perpDexs", From: VenueMeta, About: "The names of the dexes that perpetuals are traded on: the main one, which is empty, first and the others sorted."},
	{Name: "recentTrades", From: VenueTrades, Needs: []string{"coin"}, About: "The newest trades of a coin, newest first, 10 at most: {coin, side, px, sz, time, hash, tid, users}. side is the taker's, users are the buyer and the seller; hash and users are null where a trade came without, and of more than some 3,000 trades of a coin in one second."},
	{Name: "spotMetaAndAssetCtxs", From: VenueContexts, About: "A list of two: what spotMeta answers, and the figures of the spot pairs."},
	{Name: "userFills", From: VenueAccountTrades, Needs: []string{"user"}, Takes: []string{"aggregateByTime"}, About: "The newest fills of an account, newest first, 2,000 at most."},
	{Name: "userFillsByTime", From: VenueAccountTrades, Needs: []string{"user", "startTime"}, Takes: []string{"endTime", "aggregateByTime"}, About: "The fills of an account in a span, oldest first, 2,000 at most: continue from the last time."},
	{Name: "userFunding", From: VenuePayments, Needs: []string{"user", "startTime"}, Takes: []string{"endTime"}, About: "What an account paid and received for funding in a span, oldest first: {time, hash, delta: {type, coin, usdc, szi, fundingRate, nSamples}}; usdc is negative where it paid. Of more than 500 it has the oldest whole hours: continue behind the last time."},
	{Name: "userNonFundingLedgerUpdates", From: VenueLedgers, Needs: []string{"user", "startTime"}, Takes: []string{"endTime"}, About: "What moved the funds of an account in a span (deposits, withdrawals, transfers, ...), oldest first, 500 at most: {time, hash, delta}, with the delta as the venue wrote it. Continue from the last time."},

	{Name: "activeAssetData", From: VenueAccounts, Needs: []string{"user", "coin"}, About: "What an account has set for a perpetual: {user, coin, leverage: {type, value}, maxTradeSzs, availableToTrade, markPx}. leverage is null where it is not known. The exchange itself is asked what the account may trade: maxTradeSzs and availableToTrade are null where it does not say."},
	{Name: "clearinghouseState", From: VenueAccounts, Needs: []string{"user"}, Takes: []string{"dex"}, About: "The positions and the margin of an account in a dex, at mark prices, as the state of /traders/clearinghouse-state. An account that nobody asked for before may be 503: ask again in two seconds."},
	{Name: "frontendOpenOrders", From: VenueOrders, Needs: []string{"user"}, Takes: []string{"dex"}, About: "The open orders of an account in a dex, newest first, those of spot markets in the main one: those that rest and those that wait for a price, {coin, side, limitPx, sz, oid, timestamp, triggerCondition, isTrigger, triggerPx, children, isPositionTpsl, reduceOnly, orderType, origSz, tif, cloid}. An account that nobody asked for before is 503: ask again in two seconds."},
	{Name: "openOrders", From: VenueOrders, Needs: []string{"user"}, Takes: []string{"dex"}, About: "The same orders as of frontendOpenOrders in short: {coin, side, limitPx, sz, oid, timestamp, origSz}, with reduceOnly and cloid where they are set."},
	{Name: "portfolio", From: VenueAccounts, Needs: []string{"user"}, About: "What an account was worth and earned: a list of [window, {accountValueHistory, pnlHistory, vlm}] for day, week, month, allTime and, of its perpetuals alone, perpDay, perpWeek, perpMonth, perpAllTime; points are [ms, value], pnlHistory begins at 0. Where nothing is known the lists are empty; the exchange itself is asked for vlm of a window that is not known whole, null where it does not say."},
	{Name: "spotClearinghouseState", From: VenueAccounts, Needs: []string{"user"}, About: "The tokens of an account, as the spotState of /traders/spot-clearinghouse-state; null where the exchange has not told them."},
	{Name: "userFees", From: VenueAccounts, Needs: []string{"user"}, About: "What an account traded of perpetuals in each of the last 15 UTC days, oldest first: dailyUserVlm of {date, userCross, userAdd, exchange}, what it took and what it made in USDC, null of days of which a part is not known. The exchange itself is asked for what it alone knows, null where it does not say: exchange, feeSchedule, the rates (userCrossRate, userAddRate, userSpotCrossRate, userSpotAddRate), discounts, trials and stakingLink."},
	{Name: "twapHistory", Needs: []string{"user"}, About: "What the TWAP orders of an account came to, newest first, 2,000 at most: {time in seconds, state, status: {status, description}, twapId}. description is that of an error; twapId is left out where there is none. A TWAP order has a row of when it was activated and one of its end. The exchange itself is asked where the deployment follows no node."},
	{Name: "userTwapSliceFills", From: VenueFills, Needs: []string{"user"}, About: "The newest fills that TWAPs of an account have made, newest first: {fill, twapId}. They are looked for in its newest 10,000 fills, 2,000 at most."},
	{Name: "webData2", From: VenueOrders, Needs: []string{"user"}, About: "What the exchange's own page shows of an account on the main dex: clearinghouseState, openOrders as frontendOpenOrders, spotState, meta and assetCtxs, spotAssetCtxs, serverTime, user. The exchange itself is asked for what it alone knows, null where it does not say: leadingVaults, totalVaultEquity, agentAddress, agentValidUntil, cumLedger, isVault; and for twapStates, a list of [twapId, state], where the deployment follows no node. An account that nobody asked for before is 503: ask again in two seconds."},
}

// InfoIn is a question of one of several types. A type reads its own members alone: others
// may hold anything.
type InfoIn struct {
	Type            string       `body:"type" required:"true" maxlen:"64" example:"userFills"`
	Dex             string       `body:"dex" maxlen:"32"` // name of a dex, as perpDexs lists it; empty is the main one
	User            *Address     `body:"user" example:"0x0123456789abcdef0123456789abcdef01234567"`
	Coin            *Coin        `body:"coin"`
	StartTime       *Millis      `body:"startTime"`
	EndTime         *Millis      `body:"endTime"`
	AggregateByTime bool         `body:"aggregateByTime"`
	Oid             string       `body:"oid" maxlen:"66" also:"integer"` // order id, a number also as text, or the client order id in hexadecimal
	NSigFigs        *Int         `body:"nSigFigs"`                       // joins the levels of the book to prices of that many significant figures: 2, 3, 4 or 5; absent for all levels
	Mantissa        *Int         `body:"mantissa"`                       // with nSigFigs 5 the step of the last figure: 1, 2 or 5
	Req             *InfoCandles `body:"req"`

	VaultAddress *Address `body:"vaultAddress"`
	Builder      *Address `body:"builder"`
	Source       *Address `body:"source"`              // the account that a transfer comes from
	Token        *Int     `body:"token" min:"0"`       // number of a token, as spotMeta lists it
	ID           *Int     `body:"id" min:"0"`          // number of a margin table, as meta lists it
	TokenID      string   `body:"tokenId" maxlen:"34"` // of a token, as spotMeta lists it: 0x and 32 hexadecimal digits
}

// InfoCandles names the candles of a coin in a span.
type InfoCandles struct {
	Coin      Coin    `json:"coin"`
	Interval  string  `json:"interval"`            // length of a candle: 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 8h, 12h, 1d, 3d, 1w or 1M
	StartTime *Millis `json:"startTime,omitempty"` // begin of the span in milliseconds since 1970 UTC: the candle in which it falls is the first; absent it is the oldest
	EndTime   *Millis `json:"endTime,omitempty"`   // end of the span in milliseconds since 1970 UTC: the candle in which it falls is the last; absent it is now
}

// Variants implements [Varied].
func (in *InfoIn) Variants() []Variant { return InfoTypes }

// Uses implements [Selective]: a type reads its own members alone.
func (in *InfoIn) Uses(parameter string) bool {
	if parameter == "type" {
		return true
	}
	i := slices.IndexFunc(InfoTypes, func(t Variant) bool { return t.Name == in.Type })
	return i >= 0 && (slices.Contains(InfoTypes[i].Needs, parameter) || slices.Contains(InfoTypes[i].Takes, parameter))
}

// Needs implements [Needer]: each type is answered from a dataset of its own. One that is
// unknown needs nothing.
func (in InfoIn) Needs() []Need {
	i := slices.IndexFunc(InfoTypes, func(t Variant) bool { return t.Name == in.Type })
	if i < 0 || InfoTypes[i].From == nil {
		return nil
	}
	return []Need{InfoTypes[i].From.On("")}
}

// VenueAnswer is an answer as the venue writes it.
type VenueAnswer json.RawMessage

// Bare says that it has no envelope.
func (VenueAnswer) Bare() {}

// Refusal implements [Refuser], in the words of the venue.
func (VenueAnswer) Refusal() (status int, text string) {
	return 422, "Failed to deserialize the JSON body into the target type"
}

// AppendJSON writes it.
func (a VenueAnswer) AppendJSON(b []byte) []byte { return append(b, a...) }

// Span implements [Spanner], by the members that the type uses.
func (in InfoIn) Span(now time.Time) (start, end time.Time) {
	if in.Req != nil {
		return spanMillis(in.Req.StartTime, in.Req.EndTime, now)
	}
	return spanMillis(in.StartTime, in.EndTime, now)
}

// Candle is one bucket of candleSnapshot, in the venue's shape: where nothing was
// traded since the first trade of the coin it is flat, at the last price before.
type Candle struct {
	T     int64  `json:"t"` // open time, ms
	End   int64  `json:"T"` // last ms of the bucket
	S     string `json:"s"` // coin
	I     string `json:"i"` // interval
	Open  string `json:"o"`
	Close string `json:"c"`
	High  string `json:"h"`
	Low   string `json:"l"`
	V     string `json:"v"` // base volume
	N     int64  `json:"n"` // trades
}

// InfoFill is one account's side of a trade in the venue's own shape, as
// userFills and userFillsByTime report it. Decimals are the venue's texts. What is not known yet of a fill, and the
// venue does not say either at once, is null: see [Fill].
type InfoFill struct {
	Coin          string           `json:"coin"`
	Px            string           `json:"px"`
	Sz            string           `json:"sz"`
	Side          string           `json:"side"` // B buy, A sell
	Time          int64            `json:"time"` // ms
	StartPosition *string          `json:"startPosition"`
	Dir           *string          `json:"dir"`
	ClosedPnl     *string          `json:"closedPnl"`
	Hash          string           `json:"hash"`
	Oid           *int64           `json:"oid"`
	Crossed       bool             `json:"crossed"` // the account was the taker
	Fee           *string          `json:"fee"`     // negative: a rebate
	BuilderFee    *string          `json:"builderFee,omitempty"`
	Tid           int64            `json:"tid"`
	Cloid         *string          `json:"cloid,omitempty"`
	Liquidation   *InfoLiquidation `json:"liquidation,omitempty"`
	FeeToken      *string          `json:"feeToken"`
	TwapID        *int64           `json:"twapId"`
}

// InfoTwapFill is a fill that a TWAP has made, as userTwapSliceFills reports it.
type InfoTwapFill struct {
	Fill   InfoFill `json:"fill"`
	TwapID int64    `json:"twapId"`
}

// InfoTrade is a trade, as recentTrades reports it.
type InfoTrade struct {
	Coin  string     `json:"coin"`
	Side  string     `json:"side"` // of the taker: B or A
	Px    string     `json:"px"`   // quote units
	Sz    string     `json:"sz"`   // base units
	Time  int64      `json:"time"` // ms
	Hash  *string    `json:"hash"` // of the transaction; null where it is not known
	Tid   int64      `json:"tid"`
	Users *[2]string `json:"users"` // buyer and seller; null where they are not known
}

// InfoUserFees is what userFees reports. What the exchange alone knows is null where it does not say.
type InfoUserFees struct {
	DailyUserVlm                []InfoDayVolume  `json:"dailyUserVlm"` // oldest first
	FeeSchedule                 *json.RawMessage `json:"feeSchedule"`
	UserCrossRate               *string          `json:"userCrossRate"`
	UserAddRate                 *string          `json:"userAddRate"`
	UserSpotCrossRate           *string          `json:"userSpotCrossRate"`
	UserSpotAddRate             *string          `json:"userSpotAddRate"`
	ActiveReferralDiscount      *string          `json:"activeReferralDiscount"`
	Trial                       *json.RawMessage `json:"trial"`
	FeeTrialReward              *string          `json:"feeTrialReward"`
	NextTrialAvailableTimestamp *int64           `json:"nextTrialAvailableTimestamp"`
	StakingLink                 *json.RawMessage `json:"stakingLink"`
	ActiveStakingDiscount       *json.RawMessage `json:"activeStakingDiscount"`
}

// InfoDayVolume is what was traded of perpetuals in a UTC day, quote units; null where it is not known.
type InfoDayVolume struct {
	Date      string  `json:"date"`      // YYYY-MM-DD
	UserCross *string `json:"userCross"` // by orders of the account that took
	UserAdd   *string `json:"userAdd"`   // by its orders that rested
	Exchange  *string `json:"exchange"`  // by everybody
}

// ActiveAsset is what an account has set for a perpetual, as activeAssetData reports it.
type ActiveAsset struct {
	User             string         `json:"user"`
	Coin             string         `json:"coin"`
	Leverage         *AssetLeverage `json:"leverage"`         // null where it is not known
	MaxTradeSzs      *[2]string     `json:"maxTradeSzs"`      // base units that it may buy and sell; null where the exchange does not say
	AvailableToTrade *[2]string     `json:"availableToTrade"` // quote units that are free for it; null as well
	MarkPx           *string        `json:"markPx"`           // quote units; null where it is not known
}

// InfoWebData is what webData2 reports. What the exchange alone knows is null where it does not say.
type InfoWebData struct {
	ClearinghouseState ClearinghouseState `json:"clearinghouseState"` // of the main dex
	LeadingVaults      *[]struct{}        `json:"leadingVaults"`
	TotalVaultEquity   *string            `json:"totalVaultEquity"`
	OpenOrders         json.RawMessage    `json:"openOrders"` // of the main dex and spot
	AgentAddress       *string            `json:"agentAddress"`
	AgentValidUntil    *int64             `json:"agentValidUntil"`
	CumLedger          *string            `json:"cumLedger"`
	Meta               json.RawMessage    `json:"meta"`
	AssetCtxs          json.RawMessage    `json:"assetCtxs"`
	ServerTime         int64              `json:"serverTime"` // ms
	IsVault            *bool              `json:"isVault"`
	User               string             `json:"user"`
	TwapStates         *[]InfoTwapState   `json:"twapStates"`
	SpotState          *SpotState         `json:"spotState"`     // null where it is not known
	SpotAssetCtxs      json.RawMessage    `json:"spotAssetCtxs"` // null where they are not known
}

// InfoTwapState is a TWAP order that runs: its id and the order.
type InfoTwapState [2]any

// InfoTwap is a status that a TWAP order came to, as the venue lists it.
type InfoTwap struct {
	Time   int64          `json:"time"` // when it came to the status, seconds since 1970 UTC
	State  TwapState      `json:"state"`
	Status InfoTwapStatus `json:"status"`
	TwapID *int64         `json:"twapId,omitempty"` // id of the TWAP order; left out where the exchange gave it none
}

// InfoTwapStatus is a status of a TWAP order.
type InfoTwapStatus struct {
	Status      string `json:"status"`                // activated, finished, terminated or error
	Description string `json:"description,omitempty"` // what went wrong; only with the status error
}

// AssetLeverage is a leverage that is set.
type AssetLeverage struct {
	Type  string `json:"type"`  // margin: cross or isolated
	Value int64  `json:"value"` // value of a position over its initial margin
}

// InfoLiquidation names whom an execution liquidated: the account of the fill
// or the other side. The venue may leave each member out.
type InfoLiquidation struct {
	LiquidatedUser string `json:"liquidatedUser,omitempty"`
	MarkPx         string `json:"markPx,omitempty"`
	Method         string `json:"method,omitempty"` // market, backstop or adl
}

// InfoUpdate is a funding payment or another update of an account's ledger in the venue's own
// shape, as userFunding and userNonFundingLedgerUpdates report it.
type InfoUpdate struct {
	Time  int64           `json:"time"`  // ms
	Hash  string          `json:"hash"`  // of the transaction; zeros of a funding payment, which has none
	Delta json.RawMessage `json:"delta"` // [FundingDelta], or what the venue wrote
}

// FundingDelta is what an account paid or received for a position at a full hour.
type FundingDelta struct {
	Type        string `json:"type"` // funding
	Coin        string `json:"coin"`
	USDC        string `json:"usdc"` // quote units, negative was paid
	Szi         string `json:"szi"`  // the position, negative is short
	FundingRate string `json:"fundingRate"`
	NSamples    *int64 `json:"nSamples"` // null: each hour is told by itself
}

// FundingRate is what longs paid shorts in one hour per unit of notional, as
// fundingHistory reports it; shorts paid longs where it is negative.
type FundingRate struct {
	Coin        string `json:"coin"`
	FundingRate string `json:"fundingRate"`
	Premium     string `json:"premium"`
	Time        int64  `json:"time"` // ms
}
