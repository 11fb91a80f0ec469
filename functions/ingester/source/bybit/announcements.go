package bybit

import (
	"cmp"
	"context"
	"net/url"
	"regexp"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// Types of announcements.
const (
	typeListings   = "new_crypto"
	typeActivities = "latest_activities"
)

const (
	announcementsPerMinute = 60
	announcementsPage      = 20
)

// Announcements is what the exchange announces.
type Announcements struct{ host *source.Host }

// OpenAnnouncements returns the announcements of the exchange, or of one that is simulated
// at url.
func OpenAnnouncements(url string) *Announcements {
	host := source.NewHost(cmp.Or(url, URL), announcementsPerMinute)
	host.Limited = limited
	return &Announcements{host}
}

// Categories are the types of new listings and of activities.
func (*Announcements) Categories() []string { return []string{typeListings, typeActivities} }

// announcement is one of an answer. Times are Unix ms.
type announcement struct {
	Title       string       `json:"title"`
	Description string       `json:"description"`
	URL         string       `json:"url"`
	Date        lenient.Text `json:"dateTimestamp"`
	Start       lenient.Text `json:"startDateTimestamp"`
	End         lenient.Text `json:"endDateTimestamp"`
	Published   lenient.Text `json:"publishTime"` // of newer ones
}

// entry is the id of an announcement in its address, the same in all languages.
var entry = regexp.MustCompile(`\bblt[0-9a-f]{8,}\b`)

func idOf(a *announcement) string {
	if id := entry.FindString(a.URL); id != "" {
		return id
	}
	return source.AnnouncementID(a.URL, a.Title)
}

// Announcements returns a page of a type, newest first.
func (a *Announcements) Announcements(ctx context.Context, language source.AnnouncementLanguage, category string, page int) (list []market.Announcement, err error) {
	locale := string(language)
	if language == source.AnnouncedChinese {
		locale = "zh-MY" // the exchange has simplified Chinese for Malaysia alone
	}
	query := url.Values{"locale": {locale}, "type": {category}, "page": {strconv.Itoa(page)}, "limit": {strconv.Itoa(announcementsPage)}}
	answer, err := get[announcement](ctx, a.host, "/v5/announcements/index", query)
	if err != nil {
		return nil, err
	}
	for _, one := range answer.Result.List {
		list = append(list, market.Announcement{
			Venue: Platform, ID: idOf(&one), Listing: category == typeListings, AnnouncementText: market.AnnouncementText{Title: one.Title, Text: one.Description, URL: one.URL},
			Published: cmp.Or(source.MillisOf(one.Published), source.MillisOf(one.Date)), Start: source.MillisOf(one.Start), End: source.MillisOf(one.End),
		})
	}
	return list, nil
}
