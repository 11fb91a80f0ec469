package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/awsclient"
)

// droppable is a dataset that drops may load.
type droppable struct {
	domain string
	schema []byte
}

func datasets(domains ...map[string]droppable) map[string]droppable {
	all := map[string]droppable{}
	for _, domain := range domains {
		maps.Copy(all, domain)
	}
	return all
}

func dropsOf[B any](domain string, list []engine.DropDataset[B]) map[string]droppable {
	found := map[string]droppable{}
	for _, d := range list {
		found[d.Name] = droppable{domain, d.Schema}
	}
	return found
}

// dropNamed is the dataset of a name.
func dropNamed(name string) (droppable, error) {
	d, ok := drops[name]
	if !ok {
		return d, fmt.Errorf("drops do not load %q: the datasets are %s", name, strings.Join(slices.Sorted(maps.Keys(drops)), ", "))
	}
	return d, nil
}

type schemaCommand struct {
	Dataset string `arg:"" help:"Dataset that drops load."`
}

// Run prints the JSON Schema of a line of a drop.
func (c schemaCommand) Run() error {
	d, err := dropNamed(c.Dataset)
	if err == nil {
		_, err = os.Stdout.Write(d.schema)
	}
	return err
}

type loadCommand struct {
	Dataset string `arg:"" help:"Dataset to load."`
	File    string `arg:"" help:"File of one JSON object a line, plain or with gzip."`
}

// loadTimeout bounds the upload of a file.
const loadTimeout = 30 * time.Minute

// shownFaults is how many bad lines are printed; the report has more.
const shownFaults = 10

// Run loads a file, and prints what became of it.
func (c loadCommand) Run(ctx context.Context) error {
	d, err := dropNamed(c.Dataset)
	if err != nil {
		return err
	}
	i, err := open(ctx)
	if err != nil {
		return err
	}
	patient, err := awsclient.Load(ctx, loadTimeout)
	if err != nil {
		return err
	}
	load := engine.DropLoad{Domain: d.domain, Dataset: c.Dataset, Objects: awsclient.S3(patient), Bucket: i.bucket, Series: i.stores.Series, Out: os.Stderr}
	report, err := load.Run(ctx, c.File, time.Now())
	if err != nil {
		return err
	}
	for _, fault := range report.Faults[:min(len(report.Faults), shownFaults)] {
		fmt.Printf("line %d: %s\n", fault.Line, fault.Reason)
	}
	fmt.Printf("lines %d, taken %d, refused %d\n", report.Lines, report.Taken, report.Refused)
	if report.Stopped != "" {
		return errors.New(report.Stopped)
	}
	return nil
}
