package keys

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/catalog"
	"quotary/shared/store/storetest"
)

// BenchmarkResolve is the whole lookup of a known sub-key, the engine on the
// loopback included.
func BenchmarkResolve(b *testing.B) {
	bed, accessKey := benchBed(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bed.Resolve(b.Context(), accessKey); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkResolveCPU is the same without the request: the items are in memory.
func BenchmarkResolveCPU(b *testing.B) {
	bed, accessKey := benchBed(b)
	r, _ := bed.routes.get(accessKey)
	out, err := bed.db.BatchGetItem(b.Context(), r.request)
	if err != nil {
		b.Fatal(err)
	}
	bed.Store.db = inMemory{bed.Store.db, out}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bed.Resolve(b.Context(), accessKey); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEngineBatchGet is the request of BenchmarkResolve alone: what the
// SDK and the engine take.
func BenchmarkEngineBatchGet(b *testing.B) {
	bed, accessKey := benchBed(b)
	r, _ := bed.routes.get(accessKey)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bed.db.BatchGetItem(b.Context(), r.request); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkListThousands lists 3,000 sub-keys, as a page of them needs.
func BenchmarkListThousands(b *testing.B) {
	bed := newBedOn(b, storetest.DynamoDB(b))
	d := bed.distributor(func(p *Preset) { p.MaxSubKeys = 10_000 }).AccessKey
	for range 3000 {
		bed.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(1)), Metadata: `{"plan":"pro"}`})
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, err := bed.SubKeys(b.Context(), d, Filter{}); err != nil || len(list) != 3000 {
			b.Fatal(len(list), err)
		}
	}
}

// benchBed has a sub-key whose level holds every action, seen once.
func benchBed(b *testing.B) (*bed, string) {
	bed := newBed(b)
	d := bed.distributor().AccessKey
	bed.level(d, "gold", catalog.Actions()...)
	k, _ := bed.subKey(d, NewSubKey{})
	bed.resolve(k.AccessKey)
	return bed, k.AccessKey
}

type inMemory struct {
	DynamoDB
	out *dynamodb.BatchGetItemOutput
}

func (a inMemory) BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return a.out, nil
}
