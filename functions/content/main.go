// The content function answers for what people write: so far for news, from the view
// of the newest items and the log of all.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/news"
	"quotary/shared/service"
)

func main() {
	lambda.Start(service.Family(catalog.Content, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		r := &reader{log: o.Log(), newest: news.Open(views, o.Clock)}
		r.register(o.Family)
		return nil
	}))
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.NewsList, r.newsList)
	api.Handle(f, catalog.NewsDetail, r.newsDetail)
}
