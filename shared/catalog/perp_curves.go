package catalog

// PortfolioIn names an account and a window.
type PortfolioIn struct {
	Address Address `path:"address"`
	Window  string  `path:"window" enum:"day|week|month|allTime"` // the last 24 hours, 7 days, 30 days, or all time
}

// PortfolioScope is what an account, or its perpetuals alone, were worth and earned in a
// window.
type PortfolioScope struct {
	Window  string           `json:"window"` // as it was asked for
	Scope   string           `json:"scope"`  // all for perpetuals and spot, perp for perpetuals alone
	Metrics PortfolioMetrics `json:"metrics"`
}

// PortfolioMetrics are points at full hours and now: each hour of a day and a week, each sixth
// of a month, else the last of a UTC day, and of a week before 61 days; fewer where nothing was
// open that could change. They are null where nothing is known of that part.
type PortfolioMetrics struct {
	AccountValueHistory *[]PnlPoint `json:"accountValueHistory"` // value, USDC, unrealized profit included
	PnlHistory          *[]PnlPoint `json:"pnlHistory"`          // profit since the first point, USDC: the change of the value without what came in and left, so with unrealized profit, funding and fees
	Vlm                 *string     `json:"vlm"`                 // notional of the fills in the window, USDC, to the hour at its beginning; null where it is not known
}

// PnlsIn names an account, and a number of days up to now.
type PnlsIn struct {
	Address Address `path:"address"`
	Period  Days    `query:"period" default:"0"`
}

// BatchPnlsIn names accounts, and a number of days up to now.
type BatchPnlsIn struct {
	Addresses []Address  `body:"addresses" required:"true" min:"1" cut:"200"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 200 are left out
	Period    WindowDays `body:"period" default:"0"`
	Scope     string     `body:"scope" default:"all" enum:"all|perp"` // all for perpetuals and spot, perp for perpetuals alone
}

// PnlsRow is the profit of one of many accounts over time.
type PnlsRow struct {
	Address string      `json:"address"`
	Pnls    *[]PnlPoint `json:"pnls"`  // profit since the first point, oldest first; null where the account is not known
	Since   *string     `json:"since"` // from when on it is known, RFC 3339, where the window begins before; else null
}

// MaxDrawdownIn selects the values of an account at full hours of a number of days, and now.
type MaxDrawdownIn struct {
	Address Address  `path:"address"`
	Days    LongDays `query:"days" default:"30"`
	Scope   string   `query:"scope" default:"perp" enum:"perp"` // perp alone: perpetuals
}

// BatchMaxDrawdownIn selects the values of accounts at full hours of a number of days up to now.
type BatchMaxDrawdownIn struct {
	Addresses []Address      `body:"addresses" required:"true" min:"1" cut:"2000"` // accounts: 0x and 40 hexadecimal digits each, in any case; those beyond 2,000 are left out
	Days      LongWindowDays `body:"days" default:"30"`
	Scope     string         `body:"scope" default:"perp" enum:"perp"` // perp alone: perpetuals
}

// Drawdown is the largest fall of the value of an account's perpetuals from a high to a later
// low at full hours or now, relative to the high, without what came in and left between the two:
// 1 - (low - netIn) / high. Its members are null where less than two values are known.
type Drawdown struct {
	High        *ValueAt `json:"high"`
	Low         *ValueAt `json:"low"`
	MaxDrawdown *string  `json:"maxDrawdown"` // 0 to 1, a decimal string
	NetIn       *string  `json:"netIn"`       // what came in less what left between the two, USDC, a decimal string
}

// ValueAt is what something was worth at a time.
type ValueAt struct {
	Time  string `json:"time"`  // ISO 8601, UTC
	Value string `json:"value"` // USDC, a decimal string
}

// DrawdownRow is the largest drawdown of one of many accounts, at full hours alone, up to the last
// one behind which something happened to it. Each member but since is there
// with a capital too, as some clients read it: Address, High, Low, MaxDrawdown, NetIn.
type DrawdownRow struct {
	Address string `json:"address"` // in lower case
	Drawdown
	Since *string `json:"since"` // from when on values are known, RFC 3339, where the window begins before; else null

	PascalAddress     string   `json:"Address" schema:"-"`     // address
	PascalHigh        *ValueAt `json:"High" schema:"-"`        // high
	PascalLow         *ValueAt `json:"Low" schema:"-"`         // low
	PascalMaxDrawdown *string  `json:"MaxDrawdown" schema:"-"` // maxDrawdown
	PascalNetIn       *string  `json:"NetIn" schema:"-"`       // netIn
}
