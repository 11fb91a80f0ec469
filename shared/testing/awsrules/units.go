package awsrules

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"quotary/shared/store/schema"
)

// partition is what one partition key has left.
type partition struct {
	reads, writes float64
	at            time.Time
}

// of returns a partition as it is now. The caller holds r.mu.
func (r *Rules) of(name string) *partition {
	now := time.Now()
	p := r.partitions[name]
	if p == nil {
		p = &partition{reads: r.ReadUnits, writes: r.WriteUnits, at: now}
		r.partitions[name] = p
	}
	passed := now.Sub(p.at).Seconds()
	p.reads = min(p.reads+passed*r.ReadUnits, r.ReadUnits)
	p.writes = min(p.writes+passed*r.WriteUnits, r.WriteUnits)
	p.at = now
	return p
}

// affordable reports whether a partition has anything left. The caller holds r.mu.
func (r *Rules) affordable(name string, reading bool) bool {
	if reading {
		return r.of(name).reads > 0
	}
	return r.of(name).writes > 0
}

// spend charges a partition. The caller holds r.mu.
func (r *Rules) spend(name string, reads, writes float64) {
	p := r.of(name)
	p.reads -= reads
	p.writes -= writes
	r.counts.Reads += reads
	r.counts.Writes += writes
}

// spendShare charges the items of a transaction or a batch, of which the engine
// reported total units, or 0 where it did not carry it out. The caller holds c.mu.
func (c *call) spendShare(items []target, total float64, reading bool) {
	factor := 1.0
	if c.operation == "TransactWriteItems" || c.operation == "TransactGetItems" {
		factor = 2
	}
	known, others := 0.0, 0
	for _, it := range items {
		if it.put {
			known += factor * it.writeUnits()
		} else {
			others++
		}
	}
	share := factor
	if others > 0 && total > known {
		share = (total - known) / float64(others)
	}
	for _, it := range items {
		units := share
		if it.put {
			units = factor * it.writeUnits()
			c.counts.Writes += units * it.copies()
		}
		if reading {
			c.spend(it.partition(), units, 0)
		} else {
			c.spend(it.partition(), 0, units)
		}
	}
}

// attributes are those of an item in DynamoDB's JSON.
type attributes map[string]map[string]json.RawMessage

// target is one item that a request names.
type target struct {
	table string
	key   attributes // at least the keys
	put   bool       // key is the item as it is to be
}

func (t *target) text(name string) string {
	var text string
	_ = json.Unmarshal(t.key[name]["S"], &text) // all keys of the tables are strings
	return text
}

func (t *target) partition() string { return t.table + "\x00" + t.text("pk") }
func (t *target) name() string      { return t.partition() + "\x00" + t.text("sk") }

// writeUnits are those of an item that is put, one for any other.
func (t *target) writeUnits() float64 {
	if !t.put {
		return 1
	}
	size := 0
	for name, value := range t.key {
		size += len(name) + valueSize(value)
	}
	return max(1, math.Ceil(float64(size)/1024))
}

// copies is in how many indexes of its table an item that is put stands, each of which
// is written for as many units as the item. The engine reports them of a single write
// only.
func (t *target) copies() (n float64) {
	for _, table := range schema.Tables("") {
		if !strings.HasSuffix(t.table, table.Name) {
			continue
		}
		for _, index := range table.Indexes {
			if t.text(index.Partition) != "" {
				n++
			}
		}
	}
	return n
}

// valueSize is about the size of an attribute's value in bytes, as DynamoDB counts.
func valueSize(value map[string]json.RawMessage) (size int) {
	for kind, raw := range value {
		switch kind {
		case "S":
			var s string
			_ = json.Unmarshal(raw, &s)
			size += len(s)
		case "N":
			size += (len(raw)-2)/2 + 1 // two digits a byte
		case "SS", "NS":
			var all []string
			_ = json.Unmarshal(raw, &all)
			for _, s := range all {
				size += len(s)
			}
		case "BS":
			var all [][]byte
			_ = json.Unmarshal(raw, &all)
			for _, b := range all {
				size += len(b)
			}
		case "B":
			size += len(raw) * 3 / 4
		case "BOOL", "NULL":
			size++
		default: // lists and maps
			size += len(raw)
		}
	}
	return size
}
