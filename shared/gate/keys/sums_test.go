package keys

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"quotary/shared/testing/must"
)

// wantSums checks the figures of the distributor, and that they are the sums
// over its sub-keys.
func (b *bed) wantSums(distributor string, count, allocated int64) {
	b.t.Helper()
	d := must.Get(b.Distributor(b.t.Context(), distributor))(b.t)
	list := b.listAll(distributor, Filter{})
	sum := int64(0)
	var active []SubKey
	for _, k := range list {
		sum += k.MonthlyQuota
		if k.Active {
			active = append(active, k)
		}
	}
	if diff := cmp.Diff(active, b.listAll(distributor, Filter{Status: ptr(int64(1))}), cmpopts.EquateEmpty()); diff != "" || d.ActiveSubKeys != int64(len(active)) {
		b.t.Errorf("the distributor counts %d active sub-keys of %d; those listed (-want +got):\n%s", d.ActiveSubKeys, len(active), diff)
	}
	if d.SubKeyCount != count || int64(len(list)) != count {
		b.t.Errorf("the distributor counts %d sub-keys and lists %d, want %d", d.SubKeyCount, len(list), count)
	}
	if d.AllocatedQuota != allocated || sum != allocated {
		b.t.Errorf("the distributor has %d allocated, its sub-keys sum up to %d, want %d", d.AllocatedQuota, sum, allocated)
	}
}

func TestSumsHoldAfterAnySequenceOfChanges(t *testing.T) {
	b := newBed(t)
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.Int64Range(0, 3000).Draw(r, "max_total_quota")
		d := b.distributor(func(p *Preset) { p.MaxSubKeys, p.MaxTotalQuota = 5, limit }).AccessKey
		model := map[string]int64{} // access key -> quota
		total := func() (sum int64) {
			for _, quota := range model {
				sum += quota
			}
			return sum
		}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			accessKey := newAccessKey()
			if known := b.listAll(d, Filter{}); len(known) > 0 {
				accessKey = known[rapid.IntRange(0, len(known)-1).Draw(r, "sub-key")].AccessKey
			}
			quota := rapid.Int64Range(1, 2000).Draw(r, "quota")
			switch step := rapid.SampledFrom([]string{"create", "create", "default", "update", "delete", "status", "batch"}).Draw(r, "step"); step {
			case "create", "default":
				in := NewSubKey{Name: "n", MonthlyQuota: &quota}
				if step == "default" {
					in.MonthlyQuota = nil
					quota = limit - total()
					if limit == 0 {
						quota = 1000
					}
				}
				b.move(time.Millisecond) // so that the order of the list is that of creation
				k, _, err := b.CreateSubKey(t.Context(), d, in)
				if wanted := len(model) < 5 && quota > 0; wanted != (err == nil) {
					r.Fatalf("%s of %d beside %d: got error %v", step, quota, len(model), err)
				}
				if err == nil {
					model[k.AccessKey] = quota
				}
			case "update":
				err := b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, MonthlyQuota: &quota})
				if _, exists := model[accessKey]; exists != (err == nil) {
					r.Fatalf("update: got error %v", err)
				} else if exists {
					model[accessKey] = quota
				}
			case "delete":
				err := b.DeleteSubKey(t.Context(), d, accessKey)
				if _, exists := model[accessKey]; exists != (err == nil) {
					r.Fatalf("delete: got error %v", err)
				}
				delete(model, accessKey)
			case "batch":
				var all []string
				for k := range model {
					all = append(all, k)
				}
				if err := b.SetActive(t.Context(), d, all, quota%2 == 0); (err == nil) != (len(all) > 0) {
					r.Fatalf("batch of %d: got error %v", len(all), err)
				}
			case "status":
				err := b.SetActive(t.Context(), d, []string{accessKey}, false)
				if _, exists := model[accessKey]; exists != (err == nil) {
					r.Fatalf("disable: got error %v", err)
				}
			}
			b.wantSums(d, int64(len(model)), total())
			got := must.Get(b.Distributor(t.Context(), d))(r)
			if got.SubKeyCount != int64(len(model)) || got.AllocatedQuota != total() || got.AvailableQuota() != limit-total() {
				r.Fatalf("the distributor counts %d sub-keys and %d allocated, want %d and %d", got.SubKeyCount, got.AllocatedQuota, len(model), total())
			}
		}
		for _, k := range b.listAll(d, Filter{}) {
			if model[k.AccessKey] != k.MonthlyQuota {
				r.Fatalf("a sub-key has the quota %d, want %d", k.MonthlyQuota, model[k.AccessKey])
			}
			delete(model, k.AccessKey)
		}
		if len(model) > 0 {
			r.Fatalf("%d sub-keys are not listed", len(model))
		}
	})
}

func TestSumsHoldAfterConcurrentChanges(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	d := b.distributor().AccessKey
	var keys [4]string
	for i := range keys {
		k, _ := b.subKey(d, NewSubKey{MonthlyQuota: ptr(int64(100))})
		keys[i] = k.AccessKey
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 6 {
				accessKey := keys[(i+n)%4]
				switch {
				case i == 7 && n == 3:
					if err := b.DeleteSubKey(t.Context(), d, accessKey); err != nil {
						t.Error(err)
					}
				default:
					err := b.UpdateSubKey(t.Context(), d, SubKeyChange{AccessKey: accessKey, MonthlyQuota: ptr(int64(1 + i*10 + n))})
					if err != nil && !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrBusy) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	list := b.listAll(d, Filter{})
	sum := int64(0)
	for _, k := range list {
		sum += k.MonthlyQuota
	}
	b.wantSums(d, 3, sum)
}
