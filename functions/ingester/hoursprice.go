package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"quotary/functions/ingester/perp"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/shared/aws/awsclient"
	"quotary/shared/service/config"
)

type hoursPriceCommand struct {
	From hourText `arg:"" help:"First hour, as 2026-11-21 or 2026-11-21T07, UTC."`
	To   hourText `arg:"" help:"Hour behind the last one, written so too."`
}

// hourText is an hour as people write it.
type hourText struct{ time.Time }

// UnmarshalText reads a day or an hour of one.
func (h *hourText) UnmarshalText(text []byte) (err error) {
	if h.Time, err = time.Parse("2006-01-02T15", string(text)); err == nil {
		return nil
	}
	if h.Time, err = time.Parse(time.DateOnly, string(text)); err != nil {
		return fmt.Errorf("%q is neither a day as 2026-11-21 nor an hour as 2026-11-21T07", text)
	}
	return nil
}

// mostHours bounds what is listed: a year.
const mostHours = 366 * 24

// Run lists hours of the venue, and prints what it costs to read and keep them. Listing them is some cents.
func (c hoursPriceCommand) Run(ctx context.Context) error {
	if hours := c.To.Sub(c.From.Time).Hours(); hours <= 0 || hours > mostHours {
		return errors.New("the first hour must lie before the other one, a year at most")
	}
	var env config.Env
	of := perp.HoursOf(&env)
	if err := env.Err(); err != nil {
		return err
	}
	clients, err := openClients(ctx)
	if err != nil {
		return err
	}
	size, err := hyperliquid.MeasureHours(ctx, hyperliquid.S3Hours{Client: awsclient.LargeObjects(clients.config, of.Region), Name: of.Bucket}, c.From.Time, c.To.Time)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s to %s\n", of.Bucket, c.From.Format(time.RFC3339), c.To.Format(time.RFC3339))
	return printPrice(os.Stdout, of.Region, &size)
}

// What the hours cost: list prices in US dollars of late 2025, of S3 in Tokyo and DynamoDB in us-east-1; units of
// writes as the costs of the guide have them.
const (
	perGet          = 0.00037 / 1000
	perGBToRegion   = 0.09
	perGBOut        = 0.114
	perWriteUnit    = 0.625e-6
	perReadUnit     = 0.125e-6
	unitsOfFill     = 3     // of writes
	unitsBefore     = 2     // of its provisional row
	unitsOfFunding  = 2.4e6 // of the payments of an hour, at 300,000 open positions
	bytesOfFill     = 64    // as they are stored, of recorded hours
	bytesKept       = 1500  // of a fill in the table and two of its indexes
	perGBKept       = 0.25  // a month
	hoursOfMonth    = 730
	bytesOfGigabyte = 1e9
)

// printPrice prints what it costs to read and keep hours.
func printPrice(to io.Writer, region string, size *hyperliquid.HoursSize) error {
	gb := float64(size.Fills+size.Misc) / bytesOfGigabyte
	fills := float64(size.Fills) / bytesOfFill
	fmt.Fprintf(to, "%d of %d files are there, %.2f GB; some %.1f million fills, at %d bytes each\n\n", size.Files, 2*size.Hours, gb, fills/1e6, bytesOfFill)
	t := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "US dollars\tonce\ta month of such hours\t\n")
	there := max(float64(size.Files)/2, 1) // hours
	for _, line := range [...]struct {
		what string
		usd  float64
		live bool // only of what happens from now on
	}{
		{"requests", float64(size.Files) * perGet, false},
		{"transfer within " + region, 0, false},
		{"or to another region of AWS", gb * perGBToRegion, false},
		{"or out of AWS", gb * perGBOut, false},
		{"writes of fills", fills * unitsOfFill * perWriteUnit, false},
		{"reads of those that may be provisional", fills * perReadUnit, false},
		{"writes of provisional fills, as they happen", fills * unitsBefore * perWriteUnit, true},
		{"writes of funding, at 300,000 open positions", there * unitsOfFunding * perWriteUnit, false},
		{"keeping the fills, each month from then on", fills * bytesKept / bytesOfGigabyte * perGBKept, false},
	} {
		once := fmt.Sprintf("%.2f", line.usd)
		if line.live {
			once = "none"
		}
		fmt.Fprintf(t, "%s\t%s\t%.2f\t\n", line.what, once, line.usd/there*hoursOfMonth)
	}
	return t.Flush()
}
