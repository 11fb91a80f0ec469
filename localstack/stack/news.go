package stack

import (
	"context"
	"encoding/json"
	"net/http"

	"quotary/localstack/sim"
	"quotary/localstack/sim/announcements"
	"quotary/localstack/sim/newssite"
	"quotary/shared/catalog"
)

// newsEvery is how often the ingester looks at a feed of the simulated publisher, and
// announcementsEvery at announcements and at lists of flashes: the protocol of one exchange
// allows 20 looks a minute.
const (
	newsEvery          = "2s"
	announcementsEvery = "10s"
)

// startNews runs the simulated publisher of news and of flashes, in both languages, and at
// the same address what simulated exchanges announce, and has the ingesters follow them.
func (s *Stack) startNews(context.Context) error {
	if !s.simulated() {
		return nil
	}
	s.News = newssite.New(sim.Config{Seed: s.cfg.Seed})
	listener, err := s.listen(offsetNews)
	if err != nil {
		return err
	}
	s.State.NewsURL = "http://" + listener.Addr().String()
	s.Announcements = announcements.New(sim.Config{})
	site := http.NewServeMux()
	site.Handle("/", s.News.Handler())
	for _, path := range []string{"/bapi/", "/api/v5/support/", "/v5/announcements/"} {
		site.Handle(path, s.Announcements.Handler())
	}
	s.serve(listener, site)
	var feeds []map[string]string
	for _, language := range []string{newssite.English, newssite.Chinese} {
		feeds = append(feeds, map[string]string{"url": s.State.NewsURL + "/" + language + "/rss.xml", "language": language, "source": newssite.Publisher, "every": newsEvery})
	}
	list, err := json.Marshal(feeds)
	if err != nil {
		return err
	}
	s.cfg.IngesterEnv = append([]string{
		catalog.EnvNewsFeeds.Name + "=" + string(list),
		catalog.EnvBlockBeatsURL.Name + "=" + s.State.NewsURL + newssite.FlashPath, catalog.EnvBlockBeatsEvery.Name + "=" + announcementsEvery,
		catalog.EnvAnnouncements.Name + "=binance,bybit,okx", catalog.EnvAnnouncementsURL.Name + "=" + s.State.NewsURL, catalog.EnvAnnouncementsEvery.Name + "=" + announcementsEvery,
	}, s.cfg.IngesterEnv...)
	return nil
}
