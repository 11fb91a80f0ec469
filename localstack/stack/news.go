package stack

import (
	"context"
	"encoding/json"

	"quotary/localstack/newssite"
	"quotary/shared/catalog"
)

// newsEvery is how often the ingester looks at a feed of the simulated publisher.
const newsEvery = "2s"

// startNews runs the simulated publisher of news, in both languages, and has the
// ingesters follow it.
func (s *Stack) startNews(context.Context) error {
	if s.cfg.Upstream != "" && s.cfg.Upstream != "simulated" {
		return nil
	}
	s.News = newssite.New(newssite.Config{Seed: s.cfg.Seed})
	listener, err := s.listen(offsetNews)
	if err != nil {
		return err
	}
	s.State.NewsURL = "http://" + listener.Addr().String()
	s.serve(listener, s.News.Handler())
	var feeds []map[string]string
	for _, language := range []string{newssite.English, newssite.Chinese} {
		feeds = append(feeds, map[string]string{"url": s.State.NewsURL + "/" + language + "/rss.xml", "language": language, "source": newssite.Publisher, "every": newsEvery})
	}
	list, err := json.Marshal(feeds)
	if err != nil {
		return err
	}
	s.cfg.IngesterEnv = append([]string{catalog.EnvNewsFeeds.Name + "=" + string(list)}, s.cfg.IngesterEnv...)
	return nil
}
