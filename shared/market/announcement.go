package market

// AnnouncementText are what an announcement says in a language.
type AnnouncementText struct {
	Title string
	Text  string // a summary; "" where the exchange gives none
	URL   string // of http or https; "" for none
}

// Announcement is what an exchange announces to everybody. Texts are without markup.
type Announcement struct {
	Venue   string // key of the exchange: binance, okx, bybit
	ID      string // unique among those of the exchange: letters, digits and -
	Listing bool   // of something new to trade, rather than of anything else

	AnnouncementText
	Chinese AnnouncementText // the same in Chinese; zero where the exchange says it in English alone

	Published  int64 // ms
	Revised    bool  // whether it was seen before in another state
	Start, End int64 // of what is announced, ms; 0 where the exchange does not say
}
