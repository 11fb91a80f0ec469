package catalog

import (
	"encoding/json"
	"time"
)

// What companies, governments, funds and others hold of coins.
var (
	// Lists companies and other entities by the coins they hold.
	TreasuryEntities = route[TreasuryEntitiesIn, TreasuryEntityPage]("POST", "/upgrade/v2/coin-treasuries/entities", Treasury, treasuryEntities, EnvelopeB).needs(ReferenceTreasuries)
	// Lists what entities bought and sold of a coin.
	TreasuryHistory = route[TreasuryHistoryIn, TreasuryChangePage]("POST", "/upgrade/v2/coin-treasuries/history", Treasury, treasuryHistory, EnvelopeB).needs(ReferenceTreasuries)
	// Lists the holdings of an entity over time, oldest first.
	TreasuryAccumulated = route[TreasuryAccumulatedIn, []TreasuryPoint]("POST", "/upgrade/v2/coin-treasuries/history/accumulated", Treasury, grant("coin_treasury_COIN_TREASURY_HISTORY_ACCUMULATED"), EnvelopeB).needs(ReferenceTreasuries)

	// Lists the entities whose holdings have changed last.
	TreasuryLatestEntities = addition[TreasuryLatestEntitiesIn, []TreasuryEntity]("GET", "/upgrade/v2/coin-treasuries/latest/entities", Treasury, treasuryEntities, EnvelopeB).needs(ReferenceTreasuries)
	// Lists the last purchases and sales.
	TreasuryLatestHistory = addition[TreasuryLatestHistoryIn, []TreasuryChange]("GET", "/upgrade/v2/coin-treasuries/latest/history", Treasury, treasuryHistory, EnvelopeB).needs(ReferenceTreasuries)
	// Sums up what all entities hold of a coin.
	TreasurySummary = addition[TreasurySummaryIn, TreasuryTotals]("GET", "/upgrade/v2/coin-treasuries/summary", Treasury, treasuryEntities, EnvelopeB).needs(ReferenceTreasuries)
)

var (
	treasuryEntities = grant("coin_treasury_COIN_TREASURY_ENTITIES")
	treasuryHistory  = grant("coin_treasury_COIN_TREASURY_HISTORY")

	_ = does(Treasury, readViews, loadSeries)
)

// TreasuryEntitiesIn selects a page of entities that hold something of a coin, or did: the
// most valuable holding first; of unknown value, the most coins.
type TreasuryEntitiesIn struct {
	Coin       Key       `body:"coin" example:"BTC"`                                  // short name of the coin, such as BTC, in any case; absent for all coins
	EntityType string    `body:"entity_type,entityType" maxlen:"40"`                  // what the entities are, such as public-companies, in any case; absent for all
	Name       string    `body:"name" maxlen:"100"`                                   // part of the name of the entity, in any case
	Ticker     string    `body:"ticker" maxlen:"20"`                                  // short name of the entity's share, in any case
	StartDate  StartDate `body:"start_date,startDate"`                                // earliest day on which a holding has changed last
	EndDate    EndDate   `body:"end_date,endDate"`                                    // latest day on which a holding has changed last
	Page       int64     `body:"page" default:"1" min:"1"`                            // number of the page, from 1
	PageSize   int64     `body:"page_size,pageSize" default:"20" min:"1" max:"100"`   // entities of a page, 100 at most
	SortOrder  string    `body:"sort_order,sortOrder" default:"desc" enum:"asc|desc"` // desc for the largest holding first, asc for the smallest
}

// Span implements [Spanner].
func (in TreasuryEntitiesIn) Span(now time.Time) (start, end time.Time) {
	return spanDates(in.StartDate, in.EndDate, now)
}

// TreasuryEntityPage is a page of entities.
type TreasuryEntityPage struct {
	List []TreasuryEntity `json:"list"`
	Paging
}

// TreasuryEntity is what an entity holds of a coin. Holdings follow from what it bought and sold;
// a difference between what it reports and what is known until then counts as bought or sold.
// Values are of the present: by the price of the coin, by the last close of its share, converted by
// the European Central Bank's reference rate where it is not in US dollars, and by the shares, cash
// and debt that it has filed last. What is not known is null.
type TreasuryEntity struct {
	ID              int64        `json:"id"`               // number of the entity and coin, 2^53-1 at most
	Coin            string       `json:"coin"`             // short name of the coin, such as BTC
	Name            string       `json:"name"`             // name of the entity
	Ticker          string       `json:"ticker"`           // short name of its share; empty for none
	EntityType      string       `json:"entity_type"`      // what it is, such as public-companies; empty where it is not known
	HoldAmount      json.Number  `json:"hold_amount"`      // coins that it holds
	Days30          json.Number  `json:"days30"`           // coins that it bought less those that it sold in the last 30 days
	Last            *json.Number `json:"last"`             // coins of its last purchase, below 0 of a sale
	Share           *json.Number `json:"share"`            // part of all coins, a fraction from 0 to 1: of the 21 million of bitcoin that there will be, of other coins of those in circulation
	InUSD           *json.Number `json:"in_usd"`           // value of its coins in US dollars
	MarketCap       *json.Number `json:"market_cap"`       // value of all its shares in US dollars
	EnterpriseValue *json.Number `json:"enterprise_value"` // market_cap, and its debt of the long term less its cash, in US dollars
	BTCShare        *json.Number `json:"btc_share"`        // coins for each of its shares
	CostBasis       *json.Number `json:"cost_basis"`       // what its coins have cost, in US dollars: sales take their part of the average cost
	NGU             *json.Number `json:"ngu"`              // in_usd / cost_basis
	MNAV            *json.Number `json:"mnav"`             // market_cap / in_usd
	MCap            *json.Number `json:"mcap"`             // in_usd / market_cap
	CrawlDate       string       `json:"crawl_date"`       // when something was said of it last, ISO 8601, UTC
}

// TreasuryHistoryIn selects a page of purchases and sales.
type TreasuryHistoryIn struct {
	Coin      Key       `body:"coin" example:"BTC"`                                                            // short name of the coin, such as BTC, in any case; absent for all coins
	Name      string    `body:"name" maxlen:"100"`                                                             // part of the name of the entity, in any case
	Type      string    `body:"type" enum:"|Buy|Sell"`                                                         // purchases or sales alone; absent for both
	StartDate StartDate `body:"start_date,startDate"`                                                          // earliest day
	EndDate   EndDate   `body:"end_date,endDate"`                                                              // latest day
	Page      int64     `body:"page" default:"1" min:"1"`                                                      // number of the page, from 1
	PageSize  int64     `body:"page_size,pageSize" default:"20" min:"1" max:"100"`                             // rows of a page, 100 at most
	SortBy    string    `body:"sort_by,sortBy" default:"date" enum:"date|balance|change|price|total_cost_usd"` // member by which rows are ordered; of the same value by date
	SortOrder string    `body:"sort_order,sortOrder" default:"desc" enum:"asc|desc"`                           // desc for the newest or largest first, asc for the oldest or smallest; what is not known comes last
}

// Span implements [Spanner].
func (in TreasuryHistoryIn) Span(now time.Time) (start, end time.Time) {
	return spanDates(in.StartDate, in.EndDate, now)
}

// TreasuryChangePage is a page of purchases and sales.
type TreasuryChangePage struct {
	List []TreasuryChange `json:"list"`
	Paging
}

// TreasuryChange is a purchase or a sale. All changes of an entity add up to what it holds.
type TreasuryChange struct {
	ID           int64        `json:"id"`             // number of the change, 2^53-1 at most
	Coin         string       `json:"coin"`           // short name of the coin, such as BTC
	Name         string       `json:"name"`           // name of the entity
	Date         int64        `json:"date"`           // day of it: its first moment in UTC, ms
	Type         string       `json:"type"`           // Buy or Sell
	Balance      json.Number  `json:"balance"`        // coins that the entity held then
	Change       json.Number  `json:"change"`         // coins that it bought, or, below 0, sold
	TotalCostUSD *json.Number `json:"total_cost_usd"` // what all coins that it held then have cost, in US dollars; null where that is not known of each of them
	Price        *json.Number `json:"price"`          // what a coin cost, in US dollars; null where it is not known
	StockPrice   *json.Number `json:"stock_price"`    // last price of the entity's share on that day, in its currency, as was said with the change, else the close of the day, or of the last one before it on which the share was traded, of at most four days before; null where it is not known
	CrawlDate    string       `json:"crawl_date"`     // when it was said, ISO 8601, UTC
}

// TreasuryAccumulatedIn selects what one entity held of a coin over time, or all of them
// together, or those of a type. Where an entity is named that is not known there are no points.
type TreasuryAccumulatedIn struct {
	Coin       Key       `body:"coin" default:"BTC" example:"BTC"`                                  // short name of the coin, such as BTC, in any case
	Name       string    `body:"name,entity" maxlen:"100"`                                          // name of the entity, or key of its share, in any case; absent for the sum of all
	Ticker     string    `body:"ticker" maxlen:"20"`                                                // short name of the entity's share, in any case; absent for the sum of all
	EntityType string    `body:"entity_type,entityType" maxlen:"40"`                                // what the entities are, such as public-companies, in any case; absent for all
	StartDate  StartDate `body:"start_date,startDate"`                                              // first day; absent for that of the first purchase
	EndDate    EndDate   `body:"end_date,endDate"`                                                  // last day; absent or later than today for today
	Interval   string    `body:"interval" default:"day" enum:"day|week|month|daily|weekly|monthly"` // what a point is of: a day, a week from Monday on, or a month, in UTC
}

// Span implements [Spanner]. Without a start the answer reaches back to the beginning.
func (in TreasuryAccumulatedIn) Span(now time.Time) (start, end time.Time) {
	if in.StartDate.IsZero() {
		in.StartDate.Time = time.Unix(0, 0)
	}
	return spanDates(in.StartDate, in.EndDate, now)
}

// TreasuryPoint is what was held at the end of a day, week or month. There is one for each from
// the first to the last: where nothing changed, the change is 0.
type TreasuryPoint struct {
	Timestamp    int64        `json:"timestamp"`      // when the day, week or month begins, ms
	Date         string       `json:"date"`           // the same as a day, ISO 8601, UTC
	Balance      json.Number  `json:"balance"`        // coins that were held at its end
	Change       json.Number  `json:"change"`         // coins that were bought less those that were sold in it
	TotalCostUSD *json.Number `json:"total_cost_usd"` // what all coins that were held have cost, in US dollars; null where that is not known of each of them
}

// TreasuryLatestEntitiesIn selects the entities whose holdings have changed last, the latest first.
type TreasuryLatestEntitiesIn struct {
	Coin  Key   `query:"coin" example:"BTC"`                   // short name of the coin, such as BTC, in any case; absent for all coins
	Limit int64 `query:"limit" default:"20" min:"1" max:"100"` // entities of the answer, 100 at most
}

// TreasuryLatestHistoryIn selects the last purchases and sales, the latest first.
type TreasuryLatestHistoryIn struct {
	Coin  Key   `query:"coin" example:"BTC"`                   // short name of the coin, such as BTC, in any case; absent for all coins
	Limit int64 `query:"limit" default:"20" min:"1" max:"100"` // rows of the answer, 100 at most
}

// TreasurySummaryIn selects a coin.
type TreasurySummaryIn struct {
	Coin Key `query:"coin" default:"BTC" example:"BTC"` // short name of the coin, such as BTC, in any case
}

// TreasuryTotals is what all entities hold of a coin.
type TreasuryTotals struct {
	TotalEntities  int64        `json:"total_entities"`    // entities that hold something
	TotalAmount    json.Number  `json:"total_hold_amount"` // coins that they hold
	TotalValueUSD  *json.Number `json:"total_value_usd"`   // value of these in US dollars; null where the price of the coin is not known
	LastUpdateTime *int64       `json:"last_update_time"`  // when something was said of one of them last, ms; null where nothing ever was
}
