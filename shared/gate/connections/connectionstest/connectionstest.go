// Package connectionstest looks into the table of connections for tests.
package connectionstest

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/testing/must"
)

// Usage is what somebody has: connections and subscriptions.
type Usage struct{ Connections, Subscriptions int64 }

// Table is what the table holds.
type Table struct {
	Items   map[string]Usage           // by "k#<access key>" and "d#<distributor>": the items that there are
	Counted map[string]Usage           // the same: the items that hold a slot
	Taken   map[string]Usage           // the same: what the shards of the counters say
	Live    map[string]map[string]bool // by connection: keys of subscriptions, and addresses
	Strays  []string                   // items below no connection
	Below   []string                   // sort keys of what is below connections, ended subscriptions included
}

// Look reads the table.
func Look(t testing.TB, db *dynamodb.Client, table string) *Table {
	t.Helper()
	r := &Table{Items: map[string]Usage{}, Counted: map[string]Usage{}, Taken: map[string]Usage{}, Live: map[string]map[string]bool{}}
	var items []attr.Item
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page := must.Get(pages.NextPage(context.WithoutCancel(t.Context())))(t)
		items = append(items, page.Items...)
	}
	owners := map[string][2]string{}
	for _, it := range items {
		pk, sk := attr.Text(it, "pk"), attr.Text(it, "sk")
		id, connection := strings.CutPrefix(pk, "c#")
		switch {
		case connection && sk == "c":
			owners[id] = [2]string{"k#" + attr.Text(it, "key"), "d#" + attr.Text(it, "dist")}
			r.Live[id] = map[string]bool{}
			r.count(it, owners[id], Usage{Connections: 1})
		case sk == "conns":
			add(r.Taken, pk[:strings.LastIndexByte(pk, '#')], Usage{Connections: attr.Int(it, "taken")})
		case sk == "subs":
			add(r.Taken, pk[:strings.LastIndexByte(pk, '#')], Usage{Subscriptions: attr.Int(it, "taken")})
		}
	}
	for _, it := range items {
		sk := attr.Text(it, "sk")
		id, connection := strings.CutPrefix(attr.Text(it, "pk"), "c#")
		if !connection || sk == "c" {
			continue
		}
		r.Below = append(r.Below, sk)
		if r.Live[id] == nil {
			r.Strays = append(r.Strays, id+" "+sk)
		}
		r.below(it, id, sk, owners[id])
	}
	return r
}

func (r *Table) below(it attr.Item, id, sk string, owners [2]string) {
	live := func(what string) {
		if r.Live[id] != nil {
			r.Live[id][what] = true
		}
	}
	key, subscription := strings.CutPrefix(sk, "s#")
	switch {
	case subscription && it["off"] == nil:
		live(key)
		r.count(it, owners, Usage{Subscriptions: 1})
	case strings.HasPrefix(sk, "g#"):
		r.count(it, owners, Usage{Subscriptions: 1})
		if set, ok := it["addrs"].(*types.AttributeValueMemberBS); ok {
			for _, a := range set.Value {
				live("0x" + hex.EncodeToString(a))
			}
		}
	case it["ks"] != nil || it["ds"] != nil:
		r.Strays = append(r.Strays, fmt.Sprint(id, " ", sk, " holds a slot"))
	}
}

// count counts an item, and the slots that it holds. An item whose connection is gone is
// counted where it holds one.
func (r *Table) count(it attr.Item, owners [2]string, u Usage) {
	for i, slot := range [...]string{"ks", "ds"} {
		owner := owners[i]
		if shard := attr.Text(it, slot); shard != "" {
			owner = shard[:strings.LastIndexByte(shard, '#')]
			add(r.Counted, owner, u)
		}
		add(r.Items, owner, u)
	}
}

func add(to map[string]Usage, who string, u Usage) {
	sum := to[who]
	sum.Connections += u.Connections
	sum.Subscriptions += u.Subscriptions
	to[who] = sum
}

// Balanced fails the test where the shards of a counter say anything else than the items
// that hold their slots.
func (r *Table) Balanced(t testing.TB) {
	t.Helper()
	for who := range r.Counted {
		add(r.Taken, who, Usage{})
	}
	for who, taken := range r.Taken {
		if counted := r.Counted[who]; taken != counted {
			t.Errorf("%s counts %+v, the items hold %+v", who, taken, counted)
		}
	}
}

// UsageOf is what a sub-key has.
func UsageOf(t testing.TB, db *dynamodb.Client, table, accessKey string) Usage {
	t.Helper()
	r := Look(t, db, table)
	return r.Items["k#"+accessKey]
}
