package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/aws/awsclient"
	"quotary/shared/data/drop"
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
	Again   bool   `help:"Take the lines although a file with the same content was taken before."`
}

// loadTimeout bounds the upload of a file.
const loadTimeout = 30 * time.Minute

// shownFaults is how many bad lines are printed; the report has more.
const shownFaults = 10

// Run loads a file, and prints what became of it. It fails when a line was refused.
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
	load := engine.DropLoad{Domain: d.domain, Dataset: c.Dataset, Reload: c.Again, Objects: awsclient.S3(patient), Bucket: i.bucket, Series: i.stores.Series, Out: os.Stderr}
	report, err := load.Run(ctx, c.File, time.Now())
	if err != nil {
		return err
	}
	return c.print(os.Stdout, &report)
}

// print says what became of the file. What is refused and not printed stands in a report
// beside it.
func (c *loadCommand) print(out io.Writer, r *drop.Report) error {
	if r.SameAs != "" {
		fmt.Fprintf(out, "taken before as %s: nothing is loaded. --again (make load ... AGAIN=1) takes its lines once more\n", r.SameAs)
		return nil
	}
	for _, fault := range r.Faults[:min(len(r.Faults), shownFaults)] {
		fmt.Fprintf(out, "line %d: %s\n", fault.Line, fault.Reason)
	}
	if more := r.Refused - shownFaults; more > 0 {
		path := c.File + drop.Suffix
		if err := os.WriteFile(path, r.Encode(), 0o600); err != nil {
			return fmt.Errorf("write the report of %d refused lines: %w", r.Refused, err)
		}
		all := "all"
		if most := int64(len(r.Faults)); r.Refused > most {
			all = fmt.Sprintf("the first %d of all", most)
		}
		fmt.Fprintf(out, "and %d more, %s in %s\n", more, all, path)
	}
	fmt.Fprintf(out, "lines %d, taken %d, refused %d\n", r.Lines, r.Taken, r.Refused)
	switch {
	case r.Stopped != "":
		return errors.New(r.Stopped)
	case r.Refused > 0:
		return fmt.Errorf("%d of %d lines were refused", r.Refused, r.Lines)
	}
	return nil
}
