// The content function answers for what people write: news, flashes, posts and airdrops,
// each from the view of the newest and the log of all, and searches in the index of words.
package main

import (
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/catalog"
	"quotary/shared/data/airdrops"
	"quotary/shared/data/members"
	"quotary/shared/data/news"
	"quotary/shared/service"
	"quotary/shared/store"
)

func main() {
	lambda.Start(service.Family(catalog.Content, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		register(o.Family, o.Log(), views, o.Clock)
		return nil
	}))
}

// register gives the family its handlers.
func register(f *api.Family, log *store.Log, views *store.Views, clock func() time.Time) {
	(&reader{log: log, newest: news.Published.Open(views, clock)}).register(f)
	(&airdropHandlers{log: log, newest: airdrops.Published.Open(views, clock)}).register(f)
	openReadings(views, clock).register(f)
	shorts := openFlashes(log, views, clock)
	shorts.register(f)
	(&postHandlers{flashHandlers: shorts, memberView: members.Published.Open(views, clock)}).register(f)
}
