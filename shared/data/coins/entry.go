package coins

import (
	_ "embed" // the schema

	"quotary/shared/data/drop"
)

// Entry is a line of a drop of coins. It adds a coin, or replaces what a source of
// prices says of one: a name that is empty here is the source's.
type Entry struct {
	// Coin key: clients send exactly this text. A coin that the source of prices lists has its key, such as bitcoin.
	CoinKey string `json:"coin_key" required:"true" maxlen:"64" pattern:"^[A-Za-z0-9:._/@+-]+$"`
	// Short name, such as BTC.
	Show string `json:"show" maxlen:"32"`
	// Name in Chinese.
	CNName string `json:"cn_name" maxlen:"100"`
	// Name in English.
	ENName string `json:"en_name" maxlen:"100"`
	// Whether the coin is left out of the list of coins. A later entry without it lists the coin again.
	Hidden bool `json:"hidden"`
	// What the coin is, in a few sentences.
	Describe string `json:"describe" maxlen:"2000"`
	// Address of its paper.
	WhitePaper string `json:"white_paper" pattern:"^(https?://[!-~]{1,290})?$"`
	// Address of its site.
	OfficialURL string `json:"official_url" pattern:"^(https?://[!-~]{1,290})?$"`
	// Address of its group on Telegram.
	Telegram string `json:"telegram" pattern:"^(https?://[!-~]{1,290})?$"`
	// Address of its logo.
	Logo string `json:"logo" pattern:"^(https?://[!-~]{1,290})?$"`
	// Algorithm by which it is mined or signed, such as SHA-256.
	Algorithm string `json:"algorithm" maxlen:"100"`
	// How its nodes agree, such as PoW.
	Consensus string `json:"consensus" maxlen:"100"`
	// Day on which it was first issued, as 2009-01-03.
	PublishDate string `json:"publish_date" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$"`
	// Price at which it was first issued, US dollars, as a decimal.
	PublishPrice string `json:"publish_price" pattern:"^([0-9]{1,20}([.][0-9]{1,18})?)?$"`
	// How many coins there will ever be, as a decimal.
	PublishAmount string `json:"publish_amount" pattern:"^([0-9]{1,20}([.][0-9]{1,18})?)?$"`
	// How many coins are in circulation, as a decimal.
	Supply string `json:"supply" pattern:"^([0-9]{1,20}([.][0-9]{1,18})?)?$"`
	// What part of the coins was sold in an offering, percent as a decimal.
	ICO string `json:"ico" pattern:"^([0-9]{1,3}([.][0-9]{1,18})?)?$"`
	// What part of the coins its foundation kept, percent as a decimal.
	Foundation string `json:"foundation" pattern:"^([0-9]{1,3}([.][0-9]{1,18})?)?$"`
	// Themes that it belongs to, joined by commas, such as defi,web: gamefi, anonymous, market, web, newcoin, stable, defi.
	Themes string `json:"themes" pattern:"^([a-z0-9]{1,20}(,[a-z0-9]{1,20}){0,9})?$"`
}

// Entries is the type of a line of a drop of coins, and Schema its JSON Schema.
var (
	Entries = drop.TypeOf[Entry]()
	//go:embed coins.schema.json
	Schema []byte
)
