package keys

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"quotary/shared/testing/must"
)

// ringOf opens a ring of data keys whose ids are letters.
func ringOf(t testing.TB, current string, ids ...string) *Ring {
	t.Helper()
	ring := must.Get(OpenRing(t.Context(), func(context.Context) (DataKeys, error) {
		keys := map[string][]byte{}
		for _, id := range ids {
			keys[id] = bytes.Repeat([]byte{id[0] - 'a' + 7}, 32)
		}
		return DataKeys{Current: current, Keys: keys}, nil
	}))(t)
	return ring
}

// many lets a distributor have as many sub-keys as a test wants.
func many(p *Preset) { p.MaxSubKeys, p.MaxTotalQuota = 100, 1_000_000 }

// with is the same table, seen with another ring.
func (b *bed) with(ring *Ring) *Store { return New(b.db, b.table, ring, b.now) }

func TestAfterResealingOlderDataKeysAreNotNeeded(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	secrets := map[string]Secret{}
	for range 3 {
		r := b.distributor(many)
		secrets[r.AccessKey] = r.Secret
		b.level(r.AccessKey, "gold", "HL_TICKERS")
		for i := range 12 {
			k, secret := b.subKey(r.AccessKey, NewSubKey{Name: fmt.Sprint(i), MonthlyQuota: ptr(int64(1)), Metadata: `"text"`})
			secrets[k.AccessKey] = secret
		}
	}
	rotated := b.with(ringOf(t, "b", "a", "b"))
	for i, want := range []Resealed{{len(secrets), len(secrets), 0, true}, {len(secrets), 0, 0, true}} {
		got, err := rotated.Reseal(t.Context())
		if err != nil || got != want {
			t.Fatalf("run %d: %+v, %v, want %+v", i, got, err, want)
		}
	}
	alone := b.with(ringOf(t, "b", "b"))
	for accessKey, secret := range secrets {
		p, err := alone.Resolve(t.Context(), accessKey)
		if err != nil || p.Secret != secret {
			t.Errorf("%s: another secret, or %v", accessKey, err)
		}
	}
}

func TestASecretWhoseDataKeyIsGoneIsCountedAndLeft(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.distributor()
	must.Get2(b.with(ringOf(t, "c", "a", "c")).CreateSubKey(t.Context(), r.AccessKey, NewSubKey{Name: "lost", MonthlyQuota: ptr(int64(1))}))(t)
	got, err := b.with(ringOf(t, "b", "a", "b")).Reseal(t.Context())
	if err != nil || got != (Resealed{Secrets: 2, Resealed: 1, Older: 1, Complete: true}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = b.with(ringOf(t, "b", "a", "b", "c")).Reseal(t.Context()); err != nil || got != (Resealed{Secrets: 2, Resealed: 1, Complete: true}) {
		t.Errorf("with its data key: %+v, %v", got, err)
	}
}

// Secrets that are reset while others are sealed again are never put back.
func TestResealingRevivesNoDeadSecret(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.distributor(many)
	var accessKeys []string
	for range 20 {
		k, _ := b.subKey(r.AccessKey, NewSubKey{MonthlyQuota: ptr(int64(1))})
		accessKeys = append(accessKeys, k.AccessKey)
	}
	both := ringOf(t, "b", "a", "b")
	latest := make([]Secret, len(accessKeys))
	var resetting sync.WaitGroup
	for i, accessKey := range accessKeys {
		resetting.Go(func() {
			for range 3 {
				secret, err := b.ResetSecret(t.Context(), r.AccessKey, accessKey) // by an instance that does not know the new data key yet
				if err != nil {
					t.Error(err)
					return
				}
				latest[i] = secret
			}
		})
	}
	for range 3 {
		if got, err := b.with(both).Reseal(t.Context()); err != nil || !got.Complete {
			t.Errorf("%+v, %v", got, err)
		}
	}
	resetting.Wait()
	for i, accessKey := range accessKeys {
		if p, err := b.with(both).Resolve(t.Context(), accessKey); err != nil || p.Secret != latest[i] {
			t.Errorf("%s has not its latest secret, or %v", accessKey, err)
		}
	}
}

// failing ends the context with the first write.
type failing struct {
	DynamoDB
	end context.CancelFunc
}

func (f *failing) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	defer f.end()
	return f.DynamoDB.UpdateItem(ctx, in, options...)
}

func TestResealingThatRunsOutOfTimeSaysSo(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	r := b.distributor(many)
	for range 40 {
		b.subKey(r.AccessKey, NewSubKey{MonthlyQuota: ptr(int64(1))})
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	got, err := New(&failing{b.db, end}, b.table, ringOf(t, "b", "a", "b"), b.now).Reseal(ctx)
	if err != nil || got.Complete || got.Resealed == 41 {
		t.Errorf("%+v, %v", got, err)
	}
	// A write whose answer nobody waited for may have been carried out, or may still be.
	rest := Resealed{Older: 41}
	for range 3 {
		if rest.Older == 0 {
			break
		}
		if rest, err = b.with(ringOf(t, "b", "a", "b")).Reseal(t.Context()); err != nil || !rest.Complete || rest.Secrets != 41 {
			t.Errorf("%+v and then %+v, %v", got, rest, err)
		}
	}
	if rest.Older != 0 {
		t.Errorf("%+v and then %+v", got, rest)
	}
}
