package readunits

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// part is what a read takes of one partition.
type part struct {
	partition string // with its table and index
	key       string // of the partition
	kind      string // of the read: pages of queries cost something else than single rows
	rows      float64
	most      float64 // units, however large the rows are
}

// dataset is the first part of a partition's key.
func (p *part) dataset() string {
	name, _, _ := strings.Cut(p.key, "#")
	return name
}

// parts are those of the partitions that a read is of, which must be shared: those of datasets, of
// which the keys have a '#'. A query names its partition as the value :p, as those of the package
// store do.
func (s *Shares) parts(request any) (all []part) {
	add := func(table, index *string, key types.AttributeValue, kind string, rows float64) {
		text, is := key.(*types.AttributeValueMemberS)
		if !is || !slices.Contains(s.tables, aws.ToString(table)) || !strings.Contains(text.Value, "#") {
			return
		}
		name := aws.ToString(table) + "/" + aws.ToString(index) + "/" + text.Value
		for i := range all {
			if all[i].partition == name {
				all[i].rows += rows
				return
			}
		}
		all = append(all, part{partition: name, key: text.Value, kind: kind, rows: rows})
	}
	switch in := request.(type) {
	case *dynamodb.QueryInput:
		kind := "first"
		if len(in.ExclusiveStartKey) > 0 {
			kind = "next" // which store reads by larger pages
		}
		add(in.TableName, in.IndexName, in.ExpressionAttributeValues[":p"], kind, 1)
	case *dynamodb.GetItemInput:
		add(in.TableName, nil, in.Key["pk"], "get", 1)
	case *dynamodb.BatchGetItemInput:
		for table, of := range in.RequestItems {
			for _, key := range of.Keys {
				add(&table, nil, key["pk"], "get", 1)
			}
		}
	}
	r := readOf(request)
	for i := range all {
		p := &all[i]
		if p.most = r.most(r.rows); r.batch != nil {
			p.most = r.most(int(p.rows))
		}
	}
	return all
}

// price is what rows or pages have cost of late.
type price struct {
	units    float64 // of one
	supposed bool    // none has been read yet
	awaited  bool    // while none had been, others were waited for in vain
}

// expected is what a part is likely to cost, 0 for what cannot be told; known is false where the
// instance has read nothing of its dataset yet.
func (s *Shares) expected(p *part) (units float64, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range p.names() {
		if of, ok := s.costs.Get(name); ok {
			return min(of.units*p.rows, p.most), !of.supposed || of.awaited
		}
	}
	return 0, false
}

// suppose has reads beside the first of a dataset be taken for as dear as that one where they are of
// the same partition, and for small ones elsewhere.
func (s *Shares) suppose(p *part, units float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := p.names()
	s.costs.Set(names[0], price{units: units / p.rows, supposed: true})
	s.costs.Set(names[1], price{units: chunk / p.rows, supposed: true})
}

// awaited keeps the next read from waiting for others' too, which were waited for in vain.
func (s *Shares) awaited(p *part, units float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.costs.Set(p.names()[0], price{units: units / p.rows, supposed: true, awaited: true})
}

// learn remembers what a part has cost: that, or most of what it cost before if that is more.
func (s *Shares) learn(p *part, units float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range p.names() {
		now := units / p.rows
		if before, ok := s.costs.Get(name); ok && !before.supposed {
			now = max(now, 0.75*before.units)
		}
		s.costs.Set(name, price{units: now})
	}
}

// names are those under which the cost of a part is remembered.
func (p *part) names() [2]string {
	return [2]string{p.kind + "/" + p.partition, p.kind + "//" + p.dataset()}
}
