package okx

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// AnnouncementsVenue is the key of the exchange as an announcer, whose kinds of markets
// have keys of their own.
const AnnouncementsVenue = "okx"

// Types of announcements.
const (
	typeListings = "announcements-new-listings"
	typeEvents   = "announcements-latest-events"
)

// The host allows 5 requests in two seconds.
const announcementsPerMinute = 60

// Announcements is what the exchange announces.
type Announcements struct {
	hosts map[source.AnnouncementLanguage]*source.Host
}

// OpenAnnouncements returns the announcements of the exchange, or of one that is simulated at
// url.
func OpenAnnouncements(url string) *Announcements {
	host := source.NewHost(cmp.Or(url, URL), announcementsPerMinute)
	host.Limited = limited
	hosts := map[source.AnnouncementLanguage]*source.Host{}
	for _, language := range []source.AnnouncementLanguage{source.AnnouncedEnglish, source.AnnouncedChinese} {
		hosts[language] = host.Asking(http.Header{"Accept-Language": {string(language)}})
	}
	return &Announcements{hosts}
}

// Categories are the types of new listings and of events.
func (*Announcements) Categories() []string { return []string{typeListings, typeEvents} }

// inEnglish makes of the address of an announcement in Chinese that of the same one in English:
// nothing else says which it is.
var inEnglish = strings.NewReplacer("/zh-hans/", "/")

// announced is a page of announcements.
type announced struct {
	Details source.Rows[struct {
		Title     string       `json:"title"`
		URL       string       `json:"url"`
		Published lenient.Text `json:"pTime"` // ms
	}] `json:"details"`
}

// Announcements returns a page of a type, newest first. They have no text.
func (a *Announcements) Announcements(ctx context.Context, language source.AnnouncementLanguage, category string, page int) (list []market.Announcement, err error) {
	pages, err := get[announced](ctx, a.hosts[language], "/api/v5/support/announcements", url.Values{"annType": {category}, "page": {strconv.Itoa(page)}}, 1)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		for _, one := range p.Details {
			list = append(list, market.Announcement{
				Venue: AnnouncementsVenue, ID: source.AnnouncementID(inEnglish.Replace(one.URL), one.Title), Listing: category == typeListings,
				AnnouncementText: market.AnnouncementText{Title: one.Title, URL: one.URL}, Published: source.MillisOf(one.Published),
			})
		}
	}
	return list, nil
}
