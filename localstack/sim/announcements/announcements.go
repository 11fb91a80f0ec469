// Package announcements is simulated exchanges that announce listings and campaigns, for
// tests and for the local stack: it speaks the protocols of Binance, OKX and Bybit.
//
//	/bapi/composite/v1/public/cms/article/list/query   as the website of Binance writes them
//	/api/v5/support/announcements                      as OKX does
//	/v5/announcements/index                            as Bybit does
//
// What is announced follows from the clock alone: announcement n of an exchange is
// published at n times the period, whether anybody runs the site or not. Every third is
// about a campaign, the others about listings. [Site.Listings] and [Site.Campaigns] are the
// truth with which answers of the product are compared; the package shares no code with it.
//
// Each is announced in English and, to who asks so as the exchange wants to be asked, in
// Chinese.
//
// Nothing of it is announced by anybody: each answer carries X-Simulated: true, and titles
// say so.
package announcements

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"quotary/localstack/sim"
)

// Site is all exchanges.
type Site struct{ cfg sim.Config }

// New returns a site: one announcement of each exchange a period, an hour where it is left out.
func New(cfg sim.Config) *Site { return &Site{cfg.WithDefaults(time.Hour)} }

// The exchanges.
const (
	Binance = "binance"
	Bybit   = "bybit"
	OKX     = "okx"
)

// Announcement is what an exchange announces. Times are Unix ms, 0 for none.
type Announcement struct {
	Number                int64
	Listing               bool
	Programme             string // of a campaign, as clients call it
	Name, Symbol          string // of the coin
	Title, Text, URL      string
	Chinese               Words // the same in Chinese
	Published, Start, End int64
}

// Words are what an announcement says in a language.
type Words struct{ Title, Text, URL string }

// in is an announcement as it is shown in a language.
func (a Announcement) in(chinese bool) Announcement {
	if chinese {
		a.Title, a.Text, a.URL = a.Chinese.Title, a.Chinese.Text, a.Chinese.URL
	}
	return a
}

// Kept is how many listings and how many campaigns an exchange shows.
const Kept = 100

// page is how many are on a page.
const page = 20

// airdropEvery is which announcements are about campaigns.
const airdropEvery = 3

// Listings and Campaigns are what an exchange shows at a time, newest first.
func (s *Site) Listings(exchange string, at time.Time) []Announcement {
	return s.newest(exchange, at, func(n int64) bool { return n%airdropEvery != 0 })
}

// Airdrops are those about campaigns.
func (s *Site) Airdrops(exchange string, at time.Time) []Announcement {
	return s.newest(exchange, at, func(n int64) bool { return n%airdropEvery == 0 })
}

func (s *Site) newest(exchange string, at time.Time, is func(int64) bool) (list []Announcement) {
	for n := at.UnixNano() / int64(s.cfg.Period); n > 0 && len(list) < Kept; n-- {
		if is(n) {
			list = append(list, s.announcement(exchange, n))
		}
	}
	return list
}

// airdropTexts are how exchanges announce them, each in turn: programme and title.
var airdropTexts = map[string][][2]string{
	Binance: {{"hodler", "Introducing %s (%s) on Binance HODLer Airdrops! (simulated)"}, {"venue_launchpool", "Introducing %s (%s) on Binance Launchpool! (simulated)"}},
	OKX:     {{"xlaunch", "Simulated X Launch: stake BTC to earn %s (%s)"}, {"earncoin", "Simulated Flash Earn: earn %s (%s)"}},
	Bybit:   {{"venue_launchpool", "Simulated Launchpool: %s (%s)"}},
}

func (s *Site) announcement(exchange string, n int64) Announcement {
	at := time.Unix(0, n*int64(s.cfg.Period))
	a := Announcement{
		Number: n, Listing: n%airdropEvery != 0, Name: fmt.Sprint("Simulated Coin ", n), Symbol: fmt.Sprint("SIM", n), Published: at.UnixMilli(),
		URL: fmt.Sprintf("https://announcements.example/%s/%d", exchange, n),
	}
	a.Title = fmt.Sprintf("Simulated: %s will list %s (%s)", exchange, a.Name, a.Symbol)
	if !a.Listing {
		kinds := airdropTexts[exchange]
		kind := kinds[n/airdropEvery%int64(len(kinds))]
		a.Programme, a.Title = kind[0], fmt.Sprintf(kind[1], a.Name, a.Symbol)
	}
	a.Chinese.Title = fmt.Sprintf("模拟公告：%s 与 %s (%s)", exchange, a.Name, a.Symbol)
	a.Chinese.URL = fmt.Sprintf("https://announcements.example/zh-hans/%s/%d", exchange, n)
	switch exchange {
	case Binance:
		a.URL, a.Chinese.URL = fmt.Sprintf("https://www.binance.com/en/support/announcement/%x", n), fmt.Sprintf("https://www.binance.com/zh-CN/support/announcement/%x", n)
	case Bybit:
		a.URL, a.Chinese.URL = fmt.Sprintf("https://announcements.example/en-US/article/simulated-blt%016x/", n), fmt.Sprintf("https://announcements.example/zh-MY/article/mo-ni-blt%016x/", n)
		a.Text, a.Chinese.Text = "Nothing of this is announced by anybody.", "此内容并非任何人发布。"
		if !a.Listing {
			a.Start, a.End = at.Add(time.Hour).UnixMilli(), at.Add(72*time.Hour).UnixMilli()
		}
	}
	return a
}

// Handler serves the site.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bapi/composite/v1/public/cms/article/list/query", s.binance)
	mux.HandleFunc("GET /api/v5/support/announcements", s.okx)
	mux.HandleFunc("GET /v5/announcements/index", s.bybit)
	return sim.Label(mux)
}

// object is a JSON object.
type object = map[string]any

// asked is the page that a request asks for, of the category that a parameter names: ok is
// false for a category that is none of the two.
func (s *Site) asked(r *http.Request, exchange, category, listings, others, number string) (shown []Announcement, all int, ok bool) {
	var list []Announcement
	switch r.URL.Query().Get(category) {
	case listings:
		list = s.Listings(exchange, s.cfg.Now())
	case others:
		list = s.Airdrops(exchange, s.cfg.Now())
	default:
		return nil, 0, false
	}
	n, err := strconv.Atoi(r.URL.Query().Get(number))
	if err != nil || n < 1 {
		n = 1
	}
	return sim.Page(list, n, page), len(list), true
}

func (s *Site) binance(w http.ResponseWriter, r *http.Request) {
	shown, all, ok := s.asked(r, Binance, "catalogId", "48", "128", "pageNo")
	if !ok {
		sim.JSON(w, http.StatusOK, object{"code": "000002", "message": "illegal parameter (simulated)", "data": nil, "success": false})
		return
	}
	articles := []object{}
	for _, a := range shown {
		a = a.in(r.Header.Get("Lang") == "zh-CN")
		articles = append(articles, object{"id": a.Number, "code": strconv.FormatInt(a.Number, 16), "title": a.Title, "type": 1, "releaseDate": a.Published})
	}
	sim.JSON(w, http.StatusOK, object{"code": "000000", "message": nil, "messageDetail": nil, "success": true, "data": object{
		"catalogs": []object{{"catalogId": r.URL.Query().Get("catalogId"), "catalogName": "Simulated", "total": all, "articles": articles}},
	}})
}

func (s *Site) okx(w http.ResponseWriter, r *http.Request) {
	shown, all, ok := s.asked(r, OKX, "annType", "announcements-new-listings", "announcements-latest-events", "page")
	if !ok {
		sim.JSON(w, http.StatusBadRequest, object{"code": "51000", "msg": "Parameter annType error (simulated)", "data": []object{}})
		return
	}
	details := []object{}
	for _, a := range shown {
		a = a.in(r.Header.Get("Accept-Language") == "zh-CN")
		at := strconv.FormatInt(a.Published, 10)
		details = append(details, object{"annType": r.URL.Query().Get("annType"), "title": a.Title, "url": a.URL, "pTime": at, "businessPTime": at})
	}
	sim.JSON(w, http.StatusOK, object{"code": "0", "msg": "", "data": []object{{"details": details, "totalPage": strconv.Itoa((all + page - 1) / page)}}})
}

func (s *Site) bybit(w http.ResponseWriter, r *http.Request) {
	shown, all, ok := s.asked(r, Bybit, "type", "new_crypto", "latest_activities", "page")
	if !ok {
		sim.JSON(w, http.StatusOK, object{"retCode": 10001, "retMsg": "params error (simulated)", "result": object{}, "retExtInfo": object{}, "time": s.cfg.Now().UnixMilli()})
		return
	}
	list := []object{}
	for _, a := range shown {
		a = a.in(r.URL.Query().Get("locale") == "zh-MY")
		start, end := a.Start, a.End
		if start == 0 {
			start, end = a.Published, a.Published // as the exchange writes it where there is none
		}
		list = append(list, object{
			"title": a.Title, "description": a.Text, "type": object{"title": "Simulated", "key": r.URL.Query().Get("type")}, "tags": []string{"Spot"}, "url": a.URL,
			"dateTimestamp": a.Published, "startDateTimestamp": start, "endDateTimestamp": end, "publishTime": a.Published,
		})
	}
	sim.JSON(w, http.StatusOK, object{"retCode": 0, "retMsg": "OK", "result": object{"total": all, "list": list}, "retExtInfo": object{}, "time": s.cfg.Now().UnixMilli()})
}
