package keys

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/catalog"
	"quotary/shared/lru"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/awsrules"
	"quotary/shared/testing/must"
)

// BenchmarkResolve is the whole lookup of a known sub-key, the engine on the
// loopback included.
func BenchmarkResolve(b *testing.B) {
	bed, _, accessKey := benchBed(b)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(bed.Resolve(b.Context(), accessKey))(b)
	}
}

// BenchmarkResolveCPU is the same without the request: the items are in memory.
func BenchmarkResolveCPU(b *testing.B) {
	bed, distributor, accessKey := benchBed(b)
	out := must.Get(bed.db.BatchGetItem(b.Context(), bed.request(accessKey, distributor)))(b)
	bed.Store.db = inMemory{bed.Store.db, out}
	b.ReportAllocs()
	for b.Loop() {
		must.Get(bed.Resolve(b.Context(), accessKey))(b)
	}
}

// BenchmarkEngineBatchGet is the request of BenchmarkResolve alone: what the
// SDK and the engine take.
func BenchmarkEngineBatchGet(b *testing.B) {
	bed, distributor, accessKey := benchBed(b)
	request := bed.request(accessKey, distributor)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(bed.db.BatchGetItem(b.Context(), request))(b)
	}
}

// BenchmarkList lists parts of 10,000 sub-keys, as pages of them need.
func BenchmarkList(b *testing.B) {
	bed := newBedOn(b, storetest.DynamoDB(b))
	d := bed.distributor(func(p *Preset) { p.MaxSubKeys = 10_000 }).AccessKey
	for range 10_000 {
		bed.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(1)), Metadata: `{"plan":"pro"}`})
	}
	for name, list := range map[string]func(s *Store) (int, error){
		"first page": func(s *Store) (int, error) {
			list, _, err := s.SubKeys(b.Context(), d, Filter{}, 0, 20)
			return len(list), err
		},
		"last page": func(s *Store) (int, error) {
			list, _, err := s.SubKeys(b.Context(), d, Filter{}, 9980, 20)
			return len(list), err
		},
		"last page, new to the function": func(s *Store) (int, error) {
			s.starts = lru.Cache[listID, starts]{Size: 1}
			list, _, err := s.SubKeys(b.Context(), d, Filter{}, 9980, 20)
			return len(list), err
		},
		"keyword, new to the function": func(s *Store) (int, error) {
			s.starts = lru.Cache[listID, starts]{Size: 1}
			list, _, err := s.SubKeys(b.Context(), d, Filter{Keyword: "CLI"}, 0, 20)
			return len(list), err
		},
		"statistics": func(s *Store) (int, error) {
			_, err := s.Distributor(b.Context(), d)
			return 20, err
		},
		"export": func(s *Store) (n int, err error) {
			err = s.EachRow(b.Context(), d, Filter{}, time.Time{}, func(rows []Row) error { n += len(rows); return nil })
			return n - 9980, err
		},
	} {
		b.Run(name, func(b *testing.B) {
			rules := awsrules.New(b)
			rules.Latency = 0
			must.Get(list(New(rules.DynamoDB(bed.db), bed.table, bed.ring, bed.now)))(b)
			units := rules.Take().Reads
			s := bed.fresh()
			b.ReportAllocs()
			for b.Loop() {
				if n, err := list(s); err != nil || n != 20 {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(units, "units")
		})
	}
}

// benchBed has a sub-key whose level holds every action, seen once.
func benchBed(b *testing.B) (_ *bed, distributor, accessKey string) {
	bed := newBed(b)
	d := bed.distributor().AccessKey
	bed.level(d, "gold", catalog.Actions()...)
	k, _ := bed.subKey(d, NewSubKey{})
	bed.resolve(k.AccessKey)
	return bed, d, k.AccessKey
}

type inMemory struct {
	DynamoDB
	out *dynamodb.BatchGetItemOutput
}

func (a inMemory) BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return a.out, nil
}
