package keys

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestEveryChangeOutlastsConflicts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	do := func(what string, change func() error) {
		t.Helper()
		b.conflicts.Store(3)
		if err := change(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if left := b.conflicts.Load(); left >= 0 {
			t.Errorf("%s wrote without meeting the conflicts", what)
		}
	}
	ctx := t.Context()
	var token string
	var id string
	do("invite", func() (err error) {
		var i Invite
		token, i, err = b.CreateInvite(ctx, Preset{Name: "n", Level: "l", MaxSubKeys: 5}, 0)
		id = i.ID
		return err
	})
	var d string
	do("register", func() error {
		r, err := b.Register(ctx, token)
		d = r.AccessKey
		return err
	})
	var k SubKey
	do("create", func() (err error) {
		k, _, err = b.CreateSubKey(ctx, d, NewSubKey{Name: "n"})
		return err
	})
	do("update", func() error {
		return b.UpdateSubKey(ctx, d, SubKeyChange{AccessKey: k.AccessKey, MonthlyQuota: ptr(int64(7))})
	})
	do("disable", func() error { return b.SetActive(ctx, d, []string{k.AccessKey}, false) })
	do("reset", func() error { _, err := b.ResetSecret(ctx, d, k.AccessKey); return err })
	do("put level", func() error { b.level(d, "l", "HL_FILLS"); return nil })
	do("delete level", func() error { return b.DeleteLevel(ctx, d, "l") })
	do("limits", func() error { return b.SetLimits(ctx, d, Limits{MaxSubKeys: ptr(int64(9))}) })
	b.wantSums(d, 1, 7)
	do("delete", func() error { return b.DeleteSubKey(ctx, d, k.AccessKey) })
	b.wantSums(d, 0, 0)
	b.conflicts.Store(2)
	wantInvalid(t, b.RevokeInvite(ctx, id), "already used")
}

func TestRetryingIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started, attempts := time.Now(), 0
		err := new(Store).retry(t.Context(), func() error { attempts++; return errStale })
		if !errors.Is(err, ErrBusy) || attempts != maxAttempts {
			t.Errorf("got %v after %d attempts, want ErrBusy after %d", err, attempts, maxAttempts)
		}
		if took := time.Since(started); took > 7*time.Second {
			t.Errorf("gave up after %s", took)
		}
	})
}

func TestRetryingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		err := new(Store).retry(ctx, func() error { return errStale })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}
