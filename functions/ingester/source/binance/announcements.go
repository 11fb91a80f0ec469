package binance

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"quotary/functions/ingester/source"
	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// WebURL is where announcements are asked for.
const WebURL = "https://www.binance.com"

// Catalogs of announcements.
const (
	catalogListings = "48"
	catalogAirdrops = "128"
)

// The address belongs to the website, behind a firewall that bans who asks often.
const (
	announcementsPerMinute = 20
	announcementsPage      = 20
	announcementsPath      = "/bapi/composite/v1/public/cms/article/list/query"
	codeAnnounced          = "000000"
)

// Announcements is what the exchange announces on its website. The address is not among
// those that it documents.
type Announcements struct{ host, chinese *source.Host }

// OpenAnnouncements returns the announcements of the exchange, or of one that is simulated
// at url.
func OpenAnnouncements(url string) *Announcements {
	host := source.NewHost(cmp.Or(url, WebURL), announcementsPerMinute)
	return &Announcements{host, host.Asking(http.Header{"Lang": {string(source.AnnouncedChinese)}})}
}

// Categories are the catalogs of new listings and of airdrops.
func (*Announcements) Categories() []string { return []string{catalogListings, catalogAirdrops} }

// catalogs is the answer.
type catalogs struct {
	Code string `json:"code"`
	Data struct {
		Catalogs []struct {
			Articles source.Rows[struct {
				Code        string       `json:"code"`
				Title       string       `json:"title"`
				ReleaseDate lenient.Text `json:"releaseDate"` // ms
			}] `json:"articles"`
		} `json:"catalogs"`
	} `json:"data"`
}

// Announcements returns a page of a catalog, newest first. They have no text.
func (a *Announcements) Announcements(ctx context.Context, language source.AnnouncementLanguage, category string, page int) (list []market.Announcement, err error) {
	query := url.Values{"type": {"1"}, "catalogId": {category}, "pageNo": {strconv.Itoa(page)}, "pageSize": {strconv.Itoa(announcementsPage)}}
	host, path := a.host, "/en"
	if language == source.AnnouncedChinese {
		host, path = a.chinese, "/"+string(language)
	}
	var answer catalogs
	if err := host.Get(ctx, announcementsPath, query, 1, &answer); err != nil {
		return nil, err
	}
	if answer.Code != codeAnnounced {
		return nil, fmt.Errorf("ask for announcements: the answer has code %.20q", answer.Code)
	}
	for _, c := range answer.Data.Catalogs {
		for _, one := range c.Articles {
			list = append(list, market.Announcement{
				Venue: Platform, ID: one.Code, Listing: category == catalogListings,
				AnnouncementText: market.AnnouncementText{Title: one.Title, URL: WebURL + path + "/support/announcement/" + url.PathEscape(one.Code)}, Published: source.MillisOf(one.ReleaseDate),
			})
		}
	}
	return list, nil
}
