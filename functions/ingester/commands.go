package main

import (
	"context"
	"fmt"
	"os"

	"quotary/functions/ingester/perp"
	"quotary/shared/catalog"
	"quotary/shared/service/config"
	"quotary/shared/store/schema"
)

type runCommand struct{} // see run.go

type setupCommand struct{}

// Run creates what a deployment creates, where it is not there yet.
func (setupCommand) Run(ctx context.Context) error {
	i, err := open(ctx)
	if err != nil {
		return err
	}
	if err := schema.Create(ctx, i.dynamodb, schema.Tables(i.prefix)); err != nil {
		return err
	}
	return schema.CreateBucket(ctx, i.s3, i.bucket)
}

type replayCommand struct {
	File string `arg:"" help:"File of node fills, one block or one fill a line."`
}

// Run replays a file and prints what it holds.
func (r replayCommand) Run(ctx context.Context) error {
	i, err := open(ctx)
	if err != nil {
		return err
	}
	spool := perp.Settings(new(config.Env)).SpoolDir
	if spool == "" {
		return fmt.Errorf("%s is not set: %s", catalog.EnvSpoolDir.Name, catalog.EnvSpoolDir.Purpose)
	}
	replay := perp.Replay{Stores: i.stores, Dir: spool, Out: os.Stderr}
	counts, err := replay.Run(ctx, r.File)
	if counts.Lines > 0 {
		fmt.Printf("lines %d, fills %d, trades %d, malformed %d, missing %d\n", counts.Lines, counts.Fills, counts.Trades, counts.Malformed, counts.Missing)
	}
	return err
}
