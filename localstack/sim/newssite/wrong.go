package newssite

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// serveWrong serves feeds that go wrong, for tests of readers.
func serveWrong(mux *http.ServeMux) {
	text := func(contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, body)
		}
	}
	mux.HandleFunc("GET /broken", text("application/rss+xml", `<rss version="2.0"><channel><title>cut off</title><item><title>`))
	mux.HandleFunc("GET /html", text("text/html", "<!doctype html><title>Just a moment</title><p>Are you a person?"))
	mux.HandleFunc("GET /huge", huge)
	mux.HandleFunc("GET /slow", slow)
	mux.HandleFunc("GET /redirect/{n}", redirect)
	mux.HandleFunc("GET /private", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	})
}

// huge writes 64 MB that look like a feed.
func huge(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `<rss version="2.0"><channel><title>huge</title><!--`)
	block := strings.Repeat("x", 1<<20)
	for range 64 {
		if _, err := io.WriteString(w, block); err != nil {
			return // the reader has had enough
		}
	}
	_, _ = io.WriteString(w, "--></channel></rss>")
}

// slow writes a byte now and then until the reader goes away.
func slow(w http.ResponseWriter, r *http.Request) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
	}
}

// redirect counts down to the English feed.
func redirect(w http.ResponseWriter, r *http.Request) {
	to := "/en/rss.xml"
	if n, err := strconv.Atoi(r.PathValue("n")); err == nil && n > 1 {
		to = "/redirect/" + strconv.Itoa(n-1)
	}
	http.Redirect(w, r, to, http.StatusFound)
}
