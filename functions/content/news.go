package main

import (
	"cmp"
	"context"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/news"
	"quotary/shared/store"
)

// reader answers from what is stored of news.
type reader struct {
	log    *store.Log
	newest *store.View[news.View]
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.NewsList, r.newsList)
	api.Handle(f, catalog.NewsFeed, r.newsFeed)
	api.Handle(f, catalog.NewsDetail, r.newsDetail)
}

// newsList returns a page of the newest items. Where none was ever seen, there are
// none.
func (r *reader) newsList(ctx context.Context, in catalog.NewsListIn) ([]catalog.NewsItem, error) {
	v, err := store.OrZero(r.newest.Get(ctx))
	if err != nil {
		return nil, err
	}
	var list []catalog.NewsItem
	for _, h := range v.Page(in.Page, in.PageSize) {
		list = append(list, catalog.NewsItem{
			ID: h.ID, Title: h.Title, Describe: h.Describe, Cover: h.Cover, CreateTime: h.CreateTime(), Language: int64(h.Language),
			Columnist: columnist(h.Author, h.Source, h.Avatar),
		})
	}
	return list, nil
}

// newsDetail returns one item.
func (r *reader) newsDetail(ctx context.Context, in catalog.NewsDetailIn) (catalog.NewsArticle, error) {
	i, ok, err := news.ByID(ctx, r.log, in.ID)
	if err != nil {
		return catalog.NewsArticle{}, err
	}
	if !ok {
		return catalog.NewsArticle{}, api.NotFound("no news item has the id %d: ids are those of news-list", in.ID)
	}
	return catalog.NewsArticle{
		ID: i.ID, Title: i.Title, Describe: i.Describe, Cover: i.Cover, CreateTime: i.CreateTime(), Content: i.Content, Source: i.Source, Language: int64(i.Language),
		Columnist: columnist(i.Author, i.Source, i.Avatar),
	}, nil
}

func columnist(author, source, avatar string) catalog.Columnist {
	return catalog.Columnist{NickName: cmp.Or(author, source), Avatar: avatar, AvatarBlack: avatar}
}
