// The perp-discover function finds traders of the perpetual venue by their figures, in the table
// that the ingester publishes of all of them (package traders). It reads of each version no more
// columns than are asked for, keeps them, and answers from the version before while a new one loads.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"quotary/shared/api"
	"quotary/shared/aws/awsclient"
	"quotary/shared/catalog"
	"quotary/shared/data/traderhistory"
	"quotary/shared/data/traders"
	"quotary/shared/service"
	"quotary/shared/service/markedpositions"
	"quotary/shared/service/traderwindows"
	"quotary/shared/store"
	"quotary/shared/table/tablefile"
)

// columnBytes is how much of the columns of the table is kept, and historyBytes how much of those of the
// history, of the 3.5 GB that the function has: what one question reads beside, and what is garbage, needs
// as much again.
const (
	columnBytes  = 768 << 20
	historyBytes = 512 << 20
)

func main() {
	lambda.Start(service.Family(catalog.PerpDiscover, func(o *service.Opened) error {
		views, err := o.Views()
		if err != nil {
			return err
		}
		bucket := &tablefile.Bucket{Client: awsclient.S3(o.AWS), Name: o.Env.String(catalog.EnvViewsBucket, "the bucket that has the table of traders")}
		if err := o.Env.Err(); err != nil {
			return err
		}
		table := tablefile.NewReader(traders.Columns(), traders.Newest.Open(views, o.Clock).Get, bucket, columnBytes)
		r := &reader{
			table:     table,
			windows:   traderwindows.New(table, traderhistory.Newest.Open(views, o.Clock).Get, bucket, historyBytes),
			series:    o.Series(),
			positions: markedpositions.New(views, o.Clock),
		}
		r.register(o.Family)
		return nil
	}))
}

// reader answers from the table, and from what is stored of the accounts that it finds.
type reader struct {
	table     *tablefile.Reader
	windows   *traderwindows.Windows
	series    *store.Series
	positions *markedpositions.Positions
}

func (r *reader) register(f *api.Family) {
	api.Handle(f, catalog.Discover, r.discover)
	api.Handle(f, catalog.DiscoverHistory, r.discoverHistory)
	api.Handle(f, catalog.SmartFind, r.smartFind)
	api.Handle(f, catalog.AddressTags, r.addressTags)
}
