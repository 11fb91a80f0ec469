package catalog

import "encoding/json"

// Stocks: prices of shares of listed companies, and what is known of these.
var (
	// Shows prices of stocks of companies in the crypto business.
	StockQuotes = route[StockQuotesIn, []StockQuote]("GET", "/upgrade/v2/crypto_stock/quotes", Stock, anyLevel, EnvelopeB).needs(ReferenceShares)
	// Describes a listed company.
	StockCompany = route[StockCompanyIn, *StockProfile]("GET", "/upgrade/v2/crypto_stock/company/{symbol}", Stock, anyLevel, EnvelopeB).needs(ReferenceShares, ReferenceCompanies)
	// Ranks stocks by their gain.
	StockGainers = route[StockGainersIn, []StockGainer]("GET", "/upgrade/v2/crypto_stock/top-gainer", Stock, anyLevel, EnvelopeB).needs(ReferenceShares)
	// Ranks stocks by their gain, with the parameters in the body.
	StockGainersPost = route[StockGainersPostIn, []StockGainer]("POST", "/upgrade/v2/crypto_stock/top-gainer", Stock, anyLevel, EnvelopeB).needs(ReferenceShares)
)

var _ = does(Stock, readSeries, readViews)

// StockQuotesIn names stocks. They are listed in the order in which they are asked for, each
// once. One that is not known, or whose last price is older than two weeks, is left out.
type StockQuotesIn struct {
	Tickers []Key `query:"tickers" default:"i:mstr:nasdaq,i:coin:nasdaq" max:"100" list:"set" example:"i:mstr:nasdaq"` // keys of stocks, 100 at most, in any case; a symbol such as MSTR is the stock of that name
}

// StockQuote is what a share cost on the last day that is known, in the currency of its market.
// Figures are exact; what is not known is null.
type StockQuote struct {
	Ticker      string       `json:"ticker"`       // key of the stock
	CompanyName string       `json:"company_name"` // name of the company; the symbol in its key where it is not known
	LastPrice   json.Number  `json:"last_price"`   // last price
	Open        json.Number  `json:"open"`         // first price of the day
	Close       json.Number  `json:"close"`        // last price of the day, which is last_price
	High        json.Number  `json:"high"`         // highest price of the day
	Low         json.Number  `json:"low"`          // lowest price of the day
	Volume      *json.Number `json:"volume"`       // shares that were traded on the day
	MarketCap   *json.Number `json:"market_cap"`   // value of all shares: those outstanding by the last price
	OpenToday   json.Number  `json:"open_today"`   // first price of the day, which is open
	StartTS     int64        `json:"start_ts"`     // when the day begins, ms
	EndTS       int64        `json:"end_ts"`       // when the day ends, ms
	Timestamp   int64        `json:"timestamp"`    // when the prices were found, ms
}

// StockCompanyIn names a stock.
type StockCompanyIn struct {
	Symbol Key `path:"symbol" example:"i:mstr:nasdaq"` // key of the stock, in any case; a symbol such as MSTR is the stock of that name
}

// StockProfile is what is known of a company, null of one that is not known. Figures are in the
// currency of the market of its share.
type StockProfile struct {
	CompanyName   string       `json:"company_name"`   // name of the company; the symbol in its key where it is not known
	Ticker        string       `json:"ticker"`         // symbol of its share, such as MSTR
	Market        string       `json:"market"`         // market where its share is traded, as in its key, such as nasdaq
	CountryRegion string       `json:"country_region"` // country or region, such as US; empty where it is not known
	FDV           *json.Number `json:"fdv"`            // value of the shares that there would be if all that may become one did, by the last price; null where their number or the price is not known
	MarketCap     *json.Number `json:"market_cap"`     // value of all shares: those outstanding by the last price; null where either is not known
	AnnualHigh    *json.Number `json:"annual_high"`    // highest price of the last 365 days; null where none is known
	AnnualLow     *json.Number `json:"annual_low"`     // lowest price of the last 365 days; null where none is known
	Description   string       `json:"description"`    // a few sentences; empty for none
}

// StockGainersIn selects the stocks of markets, those that gained most first. With neither market
// both are meant.
type StockGainersIn struct {
	USStock bool  `query:"us_stock,usStock"`                      // stocks in US dollars
	HKStock bool  `query:"hk_stock,hkStock"`                      // stocks in Hong Kong dollars
	Limit   int64 `query:"limit" default:"50" min:"1" max:"1000"` // stocks of the answer, 1,000 at most
}

// StockGainersPostIn selects the stocks of markets, those that gained most first. With neither
// market both are meant.
type StockGainersPostIn struct {
	USStock bool  `body:"us_stock,usStock"`                      // stocks in US dollars
	HKStock bool  `body:"hk_stock,hkStock"`                      // stocks in Hong Kong dollars
	Limit   int64 `body:"limit" default:"50" min:"1" max:"1000"` // stocks of the answer, 1,000 at most
}

// StockGainer is how a share has changed since the day before. Indexes are none.
type StockGainer struct {
	Symbol     string       `json:"symbol"`      // symbol of the share, such as MSTR
	Name       string       `json:"name"`        // name of the company; the symbol where it is not known
	Price      json.Number  `json:"price"`       // last price
	Change     *json.Number `json:"change"`      // last price less that of the day before; null where only one day is known
	ChangeRate *json.Number `json:"change_rate"` // the same as percent of the price of the day before: 1.25 is 1.25 % more
	Key        string       `json:"key"`         // key of the stock
	Market     string       `json:"market"`      // US or HK
	Currency   string       `json:"currency"`    // USD or HKD
	UpdateTime int64        `json:"update_time"` // when the price was found, ms
}
