// The ingester follows the sources of market data and keeps the rows and views
// that the read functions answer from. It is the only program that writes them.
package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	_ "golang.org/x/crypto/x509roots/fallback" // the image has no certificates of its own
)

// commands are what the program does; settings come from the environment.
type commands struct {
	Run        runCommand        `cmd:"" default:"1" help:"Follow the configured sources until stopped."`
	Setup      setupCommand      `cmd:"" help:"Create the tables and the bucket of a local stack."`
	Load       loadCommand       `cmd:"" help:"Load a file of a dataset and wait until the running ingester has taken it."`
	Schema     schemaCommand     `cmd:"" help:"Print the JSON Schema of a line of a file to load."`
	HoursPrice hoursPriceCommand `cmd:"" help:"Print what it costs to read and keep hours that the venue publishes, before any is read."`
	Replay     replayCommand     `cmd:"" help:"Pass a recorded file of fills to the running ingester and wait until its rows can be read."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	command := kong.Parse(&commands{}, kong.Name("ingester"), kong.Description("Keeps market data in Quotary's stores."),
		kong.BindTo(ctx, (*context.Context)(nil)))
	command.FatalIfErrorf(command.Run())
}
