package airdrops

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"quotary/shared/data/drop"
	"quotary/shared/data/internal/dataset"
	"quotary/shared/text/markdown"
)

// Entry is a line of a drop of airdrops: an airdrop or a similar campaign of an exchange. It
// adds one, or replaces the one with the same airdrop_id. Texts are given in any of English
// (en), Chinese (cn) and traditional Chinese (tc): a reader is shown the language that was
// asked for, or else English, or else what there is.
type Entry struct {
	// Identifier, by which clients ask for the airdrop and a later line replaces this one.
	AirdropID string `json:"airdrop_id" required:"true" maxlen:"64" pattern:"^[A-Za-z0-9:._/@+-]+$"`
	// Programme that it belongs to.
	Source string `json:"source" required:"true" enum:"hodler|xlaunch|earncoin|alpha|venue_launchpool|venue_poolx"`
	// What one does to take part, as a key of lower-case letters: the programme where it is absent.
	ActivityType string `json:"activity_type" maxlen:"32" pattern:"^[a-z0-9_-]*$"`
	// Name of the activity in English, where the service does not know its key.
	ActivityNameEN string `json:"activity_name_en" maxlen:"64"`
	// Name of the activity in Chinese.
	ActivityNameCN string `json:"activity_name_cn" maxlen:"64"`
	// Name of the activity in traditional Chinese.
	ActivityNameTC string `json:"activity_name_tc" maxlen:"64"`
	// Key of the exchange, such as binance.
	Exchange string `json:"exchange" required:"true" maxlen:"32" pattern:"^[a-z0-9._-]+$"`
	// Name of the exchange, where the service does not know its key.
	ExchangeName string `json:"exchange_name" maxlen:"64"`
	// Identifier of the project, by which clients may ask too: airdrop_id where it is absent.
	ProjectID string `json:"project_id" maxlen:"64" pattern:"^[A-Za-z0-9:._/@+-]*$"`
	// Name of the project.
	ProjectName string `json:"project_name" required:"true" maxlen:"100"`
	// Name of the project in Chinese, where it has one.
	ProjectNameCN string `json:"project_name_cn" maxlen:"100"`
	// Name of the project in traditional Chinese.
	ProjectNameTC string `json:"project_name_tc" maxlen:"100"`
	// Short name of what is given away, such as BTC.
	TokenSymbol string `json:"token_symbol" maxlen:"32"`
	// Title in English; the name of the project where no language has one.
	TitleEN string `json:"title_en" maxlen:"200"`
	// Title in Chinese.
	TitleCN string `json:"title_cn" maxlen:"200"`
	// Title in traditional Chinese.
	TitleTC string `json:"title_tc" maxlen:"200"`
	// Line under the title of a banner, in English.
	SubtitleEN string `json:"subtitle_en" maxlen:"200"`
	// Line under the title of a banner, in Chinese.
	SubtitleCN string `json:"subtitle_cn" maxlen:"200"`
	// Line under the title of a banner, in traditional Chinese.
	SubtitleTC string `json:"subtitle_tc" maxlen:"200"`
	// A few sentences, in English.
	DescriptionEN string `json:"description_en" maxlen:"500"`
	// A few sentences, in Chinese.
	DescriptionCN string `json:"description_cn" maxlen:"500"`
	// A few sentences, in traditional Chinese.
	DescriptionTC string `json:"description_tc" maxlen:"500"`
	// The whole text in English, as Markdown: HTML in it is shown as text, and links other than to http and https are none.
	ContentEN string `json:"content_en" maxlen:"20000"`
	// The whole text in Chinese, as Markdown.
	ContentCN string `json:"content_cn" maxlen:"20000"`
	// The whole text in traditional Chinese, as Markdown.
	ContentTC string `json:"content_tc" maxlen:"20000"`
	// Words on the button of a banner, in English.
	ButtonEN string `json:"button_en" maxlen:"40"`
	// Words on the button of a banner, in Chinese.
	ButtonCN string `json:"button_cn" maxlen:"40"`
	// Words on the button of a banner, in traditional Chinese.
	ButtonTC string `json:"button_tc" maxlen:"40"`
	// When it was announced, Unix ms; when the line was put there where it is absent.
	PublishTime int64 `json:"publish_time" min:"0" max:"253402300799999" accepts:"a time in Unix milliseconds from 2009 to 9999"`
	// When one can take part from, Unix ms. Before that it is upcoming.
	StartTime int64 `json:"start_time" min:"0" max:"253402300799999" accepts:"a time in Unix milliseconds from 2009 to 9999"`
	// When it ends, Unix ms. From then on it is finished.
	EndTime int64 `json:"end_time" min:"0" max:"253402300799999" accepts:"a time in Unix milliseconds from 2009 to 9999"`
	// Whether it is finished, where no end is given. Without either it is, 30 days after it began or was announced.
	Status string `json:"status" enum:"ongoing|finished"`
	// Address of the announcement, of http or https.
	SourceURL string `json:"source_url" maxlen:"2048"`
	// Address to which a banner leads: the announcement where it is absent.
	ActionURL string `json:"action_url" maxlen:"2048"`
	// Address of a banner's picture.
	BackgroundImage string `json:"background_image" maxlen:"2048"`
	// Place among the banners, from 1 to 1000; 0 is none. Without any the newest airdrops are the banners.
	BannerRank int64 `json:"banner_rank" min:"0" max:"1000"`
	// Whether it is shown nowhere. A later line without it shows the airdrop again.
	Hidden bool `json:"hidden"`
}

// maxRow is how large the row of an entry may be, in bytes: DynamoDB takes 400 KB.
const maxRow = 300 << 10

var (
	lines = drop.TypeOf[Entry]()

	errTooLarge = fmt.Errorf("the texts are larger than %d KB together", maxRow>>10)
	errOrder    = errors.New("end_time must be after start_time")
)

// Parse reads a line of a drop: its content is harmless then, and its addresses are of the
// web. The error says what is wrong, for whoever wrote it.
func Parse(line []byte) (Entry, error) {
	e, err := lines.Decode(line)
	if err != nil {
		return e, err
	}
	err = cmp.Or(drop.CheckTime("publish_time", e.PublishTime), drop.CheckTime("start_time", e.StartTime), drop.CheckTime("end_time", e.EndTime),
		drop.CheckAddress("source_url", e.SourceURL), drop.CheckAddress("action_url", e.ActionURL), drop.CheckAddress("background_image", e.BackgroundImage))
	switch {
	case err != nil:
		return e, err
	case e.StartTime != 0 && e.EndTime != 0 && e.EndTime <= e.StartTime:
		return e, errOrder
	}
	e.ContentEN, e.ContentCN, e.ContentTC = markdown.Harmless(e.ContentEN), markdown.Harmless(e.ContentCN), markdown.Harmless(e.ContentTC)
	e.ActivityType, e.ProjectID = cmp.Or(e.ActivityType, e.Source), cmp.Or(e.ProjectID, e.AirdropID)
	if len(dataset.JSON(e)) > maxRow {
		return e, errTooLarge
	}
	return e, nil
}

// Status says how far an airdrop is.
type Status int64

// How far an airdrop is, as the API numbers it.
const (
	Upcoming Status = iota
	Ongoing
	Finished
)

// lasts is for how long an airdrop is ongoing of which no end is known.
const lasts = 30 * 24 * time.Hour

// StatusAt is how far the airdrop is at a time.
func (a *Airdrop) StatusAt(now time.Time) Status {
	at, end := now.UnixMilli(), a.EndTime
	switch {
	case end != 0:
	case a.Status == "finished":
		return Finished
	case a.Status == "":
		end = a.Begins() + lasts.Milliseconds()
	}
	switch {
	case end != 0 && at >= end:
		return Finished
	case at < a.StartTime:
		return Upcoming
	}
	return Ongoing
}

// Begins is when the airdrop begins or was announced, ms: lists are ordered by it.
func (a *Airdrop) Begins() int64 { return cmp.Or(a.StartTime, a.Published()) }

// Published is when the airdrop was announced, ms.
func (a *Airdrop) Published() int64 { return cmp.Or(a.PublishTime, a.Place.Time) }
