package newssite

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"quotary/localstack/sim"
)

// FlashPath is where the vendor's flashes are.
const FlashPath = "/v1/open-api/open-flash"

// FlashesListed is how many flashes of a language there are, on pages.
const FlashesListed = 100

// importantEvery is which flashes are important.
const importantEvery = 5

// Flash is a flash as a reader shows it: texts have no markup.
type Flash struct {
	ID                        int64 // the same in both languages
	Title, Content, Link, Pic string
	Important                 bool
	Published                 time.Time
}

// Flashes are those of a language that are listed at a time, newest first. Their texts are
// those of the items of news, which are edited in the same way.
func (s *Site) Flashes(base, language string, at time.Time) []Flash {
	newest := at.UnixNano() / int64(s.cfg.Period)
	list := make([]Flash, FlashesListed)
	for i := range list {
		n := newest - int64(i)
		item := s.item(base, language, n, n%editedEvery == 0 && i >= 2)
		list[i] = Flash{
			ID: n, Title: item.Title, Content: item.Summary, Link: fmt.Sprintf("%s/%s/articles/%d", base, language, n), Pic: item.Image,
			Important: n%importantEvery == 0, Published: item.Published,
		}
	}
	return list
}

// flashes answers a page: markup in texts, numbers of pages and times as texts, and a
// script that no reader wants.
func (s *Site) flashes(w http.ResponseWriter, r *http.Request) {
	type line struct {
		ID         int64  `json:"id"`
		Title      string `json:"title"`
		Content    string `json:"content"`
		Pic        string `json:"pic"`
		Link       string `json:"link"`
		URL        string `json:"url"`
		CreateTime string `json:"create_time"`
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(r.FormValue(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	language := r.FormValue("lang")
	if language != English {
		language = Chinese
	}
	list := []line{}
	for _, f := range s.Flashes("http://"+r.Host, language, s.cfg.Now()) {
		if r.FormValue("type") == "push" && !f.Important {
			continue
		}
		list = append(list, line{
			ID: f.ID, Title: f.Title, Content: "<p>" + escape(f.Content) + `</p><script>alert("no reader wants this")</script>`,
			Pic: f.Pic, Link: f.Link, URL: "", CreateTime: strconv.FormatInt(f.Published.Unix(), 10),
		})
	}
	page, size := min(number("page", 1), FlashesListed), min(number("size", 10), 50)
	sim.JSON(w, http.StatusOK, map[string]any{
		"status": 0, "message": "", "data": map[string]any{"page": r.FormValue("page"), "data": sim.Page(list, page, size)},
	})
}
