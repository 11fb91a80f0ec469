package flashes

import (
	"cmp"
	_ "embed" // the schema
	"errors"
	"strings"
	"time"

	"quotary/shared/data/drop"
)

// Entry is a line of a drop of flashes: a short piece of news, or a post of a social
// network. It adds one, or replaces the one with the same id.
type Entry struct {
	// Number of the flash, up to the largest that any JSON reader takes, by which clients ask for it and a later line replaces this one. Flashes and posts share their numbers.
	ID int64 `json:"id" required:"true" min:"1" max:"9007199254740991"`
	// When it was published, Unix s, from 2009 on, and no more than ten minutes ahead.
	Time int64 `json:"time" required:"true" min:"1230768000" max:"253402300799" accepts:"in Unix seconds from 2009 on"`
	// Language of title and content: Chinese, English or traditional Chinese.
	Language string `json:"language" required:"true" enum:"cn|en|tc"`
	// Whether it is a flash of the house or a post of a social network: house where it is absent.
	Platform string `json:"platform" enum:"house|social"`
	// Title, a text without markup. One of title and content must be there.
	Title string `json:"title" maxlen:"500"`
	// The text, without markup.
	Content string `json:"content" maxlen:"8000"`
	// Title in the other language, where there is a translation.
	TransTitle string `json:"trans_title" maxlen:"500"`
	// Text in the other language.
	TransContent string `json:"trans_content" maxlen:"8000"`
	// Number of the flash of which this is the version in another language: lists in traditional Chinese show a flash in Chinese only where they show no version of it. A version is on its own otherwise: what it is about, its exchange and tab are said in its line too.
	VersionOf int64 `json:"version_of" min:"0" max:"9007199254740991"`
	// What it is about, as flashList numbers it: 0 is unclassified, 21 a listing.
	FlashType int64 `json:"flash_type" enum:"0|1|3|4|5|6|7|8|10|14|15|16|18|19|20|21|22|23|24|25|26|27|28"`
	// Number of the exchange that a flash of a listing is about: 477 is Binance, 1509 OKX, 1510 Bybit.
	MemberID int64 `json:"member_id" min:"0" max:"9007199254740991"`
	// Tab of the list in which it is shown besides the first, from 1 to 15; 0 is none.
	Tab int64 `json:"tab" min:"0" max:"15"`
	// Whether it is shown where only what is important is.
	Important bool `json:"important"`
	// Name of whom it is from: an author, a desk, a publisher.
	Source string `json:"source" maxlen:"100"`
	// Address of the author's picture.
	Avatar string `json:"avatar" maxlen:"2048"`
	// Address of the whole story or the post.
	Link string `json:"link" maxlen:"2048"`
	// Addresses of pictures, with spaces between them.
	Pictures string `json:"pictures" maxlen:"8192"`
	// Identifier of a post in its network.
	TweetID string `json:"tweet_id" maxlen:"64"`
	// What somebody of the house says of a post.
	PersonOpinion string `json:"person_opinion" maxlen:"2000"`
	// Whether a post is much read.
	Hot bool `json:"hot"`
	// How often a post was commented.
	CommentCount int64 `json:"comment_count" min:"0" max:"9007199254740991"`
	// How often a post was liked.
	LikeCount int64 `json:"like_count" min:"0" max:"9007199254740991"`
	// How often a post was answered.
	ReplyCount int64 `json:"reply_count" min:"0" max:"9007199254740991"`
	// How often a post was repeated by others.
	RetweetCount int64 `json:"retweet_count" min:"0" max:"9007199254740991"`
	// How often a post was seen.
	ViewCount int64 `json:"view_count" min:"0" max:"9007199254740991"`
	// Whether it is shown nowhere. A later line without it shows the flash again.
	Hidden bool `json:"hidden"`
}

// Platforms of flashes.
const (
	House  = "house"
	Social = "social"
)

// TypeListing is the type of flashes about listings.
const TypeListing = 21

// MemberID is the number of an exchange in flashes about its listings, by its name or the key
// of a platform of it; 0 of others.
func MemberID(exchange string) int64 {
	switch exchange {
	case "binance":
		return 477
	case "okx", "okex", "okcoinfutures":
		return 1509
	case "bybit":
		return 1510
	}
	return 0
}

var (
	lines = drop.TypeOf[Entry]()

	// Schema is the JSON Schema of a line of a drop.
	//
	//go:embed flashes.schema.json
	Schema []byte

	errNothing = errors.New("one of title and content must be there")
	errVersion = errors.New("version_of must be the number of another flash")
)

// Parse reads a line of a drop. The error says what is wrong, for whoever wrote it.
func Parse(line []byte) (Entry, error) {
	e, err := lines.Decode(line)
	if err != nil {
		return e, err
	}
	e.Platform = cmp.Or(e.Platform, House)
	return e, e.Check()
}

// Check returns what is wrong with an entry that did not come from a drop.
func (e *Entry) Check() error {
	if err := lines.CheckNumbers(e); err != nil {
		return err
	}
	switch {
	case e.VersionOf == e.ID:
		return errVersion
	case strings.TrimSpace(e.Title) == "" && strings.TrimSpace(e.Content) == "":
		return errNothing
	}
	err := cmp.Or(drop.CheckAddress("avatar", e.Avatar), drop.CheckAddress("link", e.Link))
	for _, address := range e.PictureList() {
		err = cmp.Or(err, drop.CheckAddress("pictures", address))
	}
	return err
}

// PictureList is the addresses of the pictures.
func (e *Entry) PictureList() []string { return strings.Fields(e.Pictures) }

// Published is when it was published.
func (e *Entry) Published() time.Time { return time.Unix(e.Time, 0).UTC() }
