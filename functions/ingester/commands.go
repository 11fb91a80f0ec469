package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"quotary/functions/ingester/ingest"
	"quotary/shared/store/schema"
)

// Run creates what a deployment creates, where it is not there yet.
func (setupCommand) Run(ctx context.Context) error {
	s, c, _, err := open(ctx)
	if err != nil {
		return err
	}
	if err := schema.Create(ctx, c.dynamodb, schema.Tables(s.prefix)); err != nil {
		return err
	}
	return schema.CreateBucket(ctx, c.s3, s.bucket)
}

// Run replays a file and prints what it holds.
func (r replayCommand) Run(ctx context.Context) error {
	s, _, stores, err := open(ctx)
	if err != nil {
		return err
	}
	if s.spool == "" {
		return errors.New("QUOTARY_SPOOL_DIR is not set: the folder in which the running ingester finds files to replay")
	}
	replay := ingest.Replay{Stores: stores, Spool: ingest.Spool{Dir: s.spool}, Out: os.Stderr}
	counts, err := replay.Run(ctx, r.File)
	if counts.Lines > 0 {
		fmt.Printf("lines %d, fills %d, trades %d, malformed %d, missing %d\n", counts.Lines, counts.Fills, counts.Trades, counts.Malformed, counts.Missing)
	}
	return err
}
