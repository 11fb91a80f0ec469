package catalog

import "time"

// The endpoints of the family Signal.
var (
	// Lists the alerts of the calling key that went off, newest first.
	FiredAlerts = route[FiredAlertsIn, FiredAlertList]("GET", "/v2/signal/signalAlert", Signal, anyLevel, EnvelopeA).needs(ExchangeKlines)
	// Lists the indicators and triggers that an alert may use.
	AlertChoices = route[AlertChoicesIn, AlertChoiceList]("GET", "/v2/signal/signalAlertConf", Signal, anyLevel, EnvelopeA).needs(ExchangePairs)
	// Sets up an alert for the calling key.
	AddAlert = route[AddAlertIn, AlertResult]("GET", "/v2/signal/addSignalAlert", Signal, anyLevel, EnvelopeA).needs(ExchangePairs)
	// Removes an alert of the calling key.
	RemoveAlert = route[RemoveAlertIn, AlertResult]("GET", "/v2/signal/delSignalAlert", Signal, anyLevel, EnvelopeA).needs(ExchangePairs)
	// Lists the alerts that the calling key set up.
	SetAlerts = route[SetAlertsIn, SetAlertList]("GET", "/v2/signal/getSignalAlertSetList", Signal, anyLevel, EnvelopeA).needs(ExchangePairs)
	// Lists signals of a strategy with their past success, newest first.
	StrategySignals = route[StrategySignalsIn, StrategySignalList]("GET", "/v2/signal/strategySignal", Signal, anyLevel, EnvelopeA).needs(ExchangeKlines)
	// Lists sudden changes of price and volume, large runs of takers and liquidations, newest first.
	ChangeSignals = route[ChangeSignalsIn, ChangeSignalList]("GET", "/v2/signal/changeSignal", Signal, anyLevel, EnvelopeA).needs(ExchangeKlines)
)

var _ = does(Signal, readLog, readViews, keepDocuments)

// FiredAlertsIn asks for what went off of the calling key's alerts in the last 30 days.
type FiredAlertsIn struct{}

// FiredAlertList has the newest 100.
type FiredAlertList struct {
	List []FiredAlert `json:"list"` // newest first
}

// FiredAlert is an alert that went off with a candle. It does so once for a candle.
type FiredAlert struct {
	TpKey    string `json:"tp_key"`    // key of the pair
	SubType  string `json:"sub_type"`  // what the alert waits for, with all its parameters
	Side     string `json:"side"`      // buy or sell: for whom it speaks
	EwsPrice string `json:"ews_price"` // close of the candle, quote coins
	EwsTime  string `json:"ews_time"`  // when the candle closed, seconds since 1970 UTC
}

// AlertChoicesIn asks what an alert may wait for.
type AlertChoicesIn struct {
	Lan string `query:"lan" default:"cn" enum:"cn|en"` // language of names
}

// AlertChoiceList has what alerts may wait for.
type AlertChoiceList struct {
	Data   []AlertChoice `json:"data"`   // by indicator
	Period []int64       `json:"period"` // lengths of candles, minutes
}

// AlertChoice is an indicator with its triggers.
type AlertChoice struct {
	Config       []AlertTrigger `json:"config"`       // its triggers
	IndicatorKey string         `json:"indicatorKey"` // first part of subType
	Label        string         `json:"label"`        // name in the language
	Name         string         `json:"name"`         // the same
	Sort         int64          `json:"sort"`         // place in the list, from 1 on
}

// AlertTrigger is a condition on candles that have closed.
type AlertTrigger struct {
	AppPicLink        *string              `json:"appPicLink"`        // picture for phones: null, there is none
	Label             string               `json:"label"`             // what it says, in the language
	Name              string               `json:"name"`              // the same
	PicLink           *string              `json:"picLink"`           // picture: null, there is none
	SignalType        string               `json:"signalType"`        // subType without parameters, with {period} in the place of minutes
	TriggerKey        string               `json:"triggerKey"`        // third part of subType
	ParamConfig       []AlertTriggerParam  `json:"paramConfig"`       // its parameters, in the order in which subType has them behind the trigger
	SecondTriggerType []AlertSecondTrigger `json:"secondTriggerType"` // always empty: no trigger has a second one
}

// AlertTriggerParam is a parameter of a trigger.
type AlertTriggerParam struct {
	Key     string  `json:"key"`     // what it is called
	Label   string  `json:"label"`   // name in the language
	Type    string  `json:"type"`    // int or price
	Default *string `json:"default"` // value where it is left out; null where it must be given
	Min     *int64  `json:"min"`     // least value; null of a price
	Max     *int64  `json:"max"`     // greatest value; null of a price
}

// AlertSecondTrigger would be a trigger beside another; there are none.
type AlertSecondTrigger struct {
	TriggerKey string `json:"triggerKey"` // its key
}

// AddAlertIn says what the alert waits for. The same alert again is the one that is there; a key
// may have 100.
type AddAlertIn struct {
	// <indicatorKey>:<period minutes>:<triggerKey>[:<params>], as signalAlertConf lists them;
	// parameters are separated by commas or colons, and those left out take their defaults
	SubType string `query:"subType,sub_type" required:"true" example:"ma:60:single_ma:7"`

	Symbol PairKey `query:"symbol" required:"true" example:"btcusdt:binance"` // key of a pair that is followed
	Remark string  `query:"remark" example:"the weekly average"`              // the caller's own words, at most 256 bytes
}

// AlertResult says whether it was done.
type AlertResult struct {
	Result string `json:"result"` // true; or false where there is no alert of that id
}

// RemoveAlertIn names the alert.
type RemoveAlertIn struct {
	ID int64 `query:"id" required:"true" min:"1" example:"7"` // as getSignalAlertSetList lists it
}

// SetAlertsIn asks for the calling key's alerts.
type SetAlertsIn struct{}

// SetAlertList has the alerts of the calling key.
type SetAlertList struct {
	List  []SetAlert `json:"list"`  // newest first
	Count string     `json:"count"` // how many there are
}

// SetAlert is an alert that the calling key set up.
type SetAlert struct {
	ID       string  `json:"id"`       // number by which it is removed
	TpKey    string  `json:"tpKey"`    // key of the pair
	SetPrice *string `json:"setPrice"` // price of the pair when it was set up, quote coins; null where it was not known
	SubType  string  `json:"subType"`  // what it waits for, with all its parameters
	SetTime  string  `json:"setTime"`  // when it was set up, seconds since 1970 UTC
	Remark   string  `json:"remark"`   // the caller's own words (an addition)
}

// StrategySignalsIn selects signals of a strategy.
type StrategySignalsIn struct {
	CoinType Key `query:"coin_type" example:"bitcoin"` // coin, by its key or short name; without it those of all coins

	// list what is older than this, ms: latest_time of the page before; without it the newest
	LatestTime *Millis `query:"latest_time"`

	// the strategy; the guide's page of strategies has their rules
	SignalKey string `query:"signal_key" default:"depth_win_one" enum:"depth_win_one|depth_win_two|depth_buy_one|order_buy_one|td_buy_one|lsur_one"`
}

// Span implements [Spanner]: signals are looked for as far back as it takes.
func (in StrategySignalsIn) Span(time.Time) (start, end time.Time) { return time.Time{}, time.Time{} }

// StrategySignalList has 100 signals, and what else is of the same hour as the last of them.
type StrategySignalList struct {
	// names of a row's values: id, signal_time (ms: when the hour closed), signal_type (the
	// strategy), side (buy or sell), capital_rate (part of the capital to stake, by half of Kelly's
	// criterion from history_win_rate), history_win_rate (signals of the strategy that were won, of
	// those that were won or lost before this one; both empty before there are 20),
	// advise_win_rate and advise_loss_rate (gain and loss at which to leave, parts of the price),
	// state (0 open, 1 won, 2 lost, 3 neither within 24 hours), price (close of the hour, quote
	// coins) and, an addition, pair (its key); rates are fractions
	Mapping []string `json:"mapping"`

	List        [][]string        `json:"list"`        // rows of texts, newest first
	SupportList []SupportedSignal `json:"supportList"` // what strategies look at
	LatestTime  *int64            `json:"latest_time"` // time of the last row, ms, to go on with; null where there is no older one
}

// SupportedSignal is a coin that a strategy looks at.
type SupportedSignal struct {
	Strategy string `json:"strategy"` // as in signal_key
	CoinType string `json:"coinType"` // short name of the coin, in lower case
	Category string `json:"category"` // spot or futures
}

// ChangeSignalsIn selects sudden changes of the followed pairs, of the last seven days.
type ChangeSignalsIn struct {
	// kind of change; the guide's page of changes has the rule of each. Without it those of all kinds
	Type string `query:"type" enum:"|1|2|3|4|5|6|7|8|9|10|11|12|17|18|23|24" example:"7"`

	Currency string `query:"currency" default:"usd" enum:"cny|usd"` // currency of price and trade: yuan or US dollars
}

// ChangeSignalList has the newest 100.
type ChangeSignalList struct {
	List []ChangeSignal `json:"list"` // newest first
}

// ChangeSignal is a sudden change of a pair. It is said once.
type ChangeSignal struct {
	ID          string `json:"id"`           // number of the change, the same for ever
	Key         string `json:"key"`          // key of the pair
	CreatedAt   string `json:"created_at"`   // when it was known, seconds since 1970 UTC
	Show        string `json:"show"`         // the pair as it is shown; its key where it is not listed any more
	CurrencyStr string `json:"currency_str"` // currency of price and trade: usd or cny
	Type        string `json:"type"`         // number of the kind, as in the request
	Price       string `json:"price"`        // at the change: close of the minute, worst price of the run of takers, or that of the liquidation; empty where no rate is known
	Trade       string `json:"trade"`        // traded of the pair in the last 24 hours, up to now; empty where it is not known
	Degree24h   string `json:"degree_24h"`   // change of the pair's price in the last 24 hours, up to now, percent; likewise
}
