package keys

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
)

func TestAnInviteRegistersOneDistributorWithItsPreset(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	preset := Preset{
		Name: "Acme", Level: "gold", MaxSubKeys: 3, MaxTotalQuota: 500, WSConnLimit: 4, WSSubLimit: 40,
		Grants: []string{"futures:FUNDING_RATE_HISTORY"},
	}
	token, invite := must.Get2(b.CreateInvite(t.Context(), preset, 0))(t)
	if len(token) != 43 {
		t.Errorf("the token has %d characters, want 43", len(token))
	}
	r := must.Get(b.Register(t.Context(), token))(t)
	if !isAccessKey(r.AccessKey) || !isAccessKey(string(r.Secret)) || r.Name != "Acme" || r.Level != "gold" {
		t.Errorf("got registration %+v", r)
	}
	d := must.Get(b.Distributor(t.Context(), r.AccessKey))(t)
	want := Distributor{Preset: preset, AccessKey: r.AccessKey, CreatedAt: b.now().UTC()}
	check.Equalf(t, want, d, "distributor")
	all := must.Get(b.Distributors(t.Context()))(t)
	check.Equalf(t, []Distributor{want}, all, "list of distributors")
	invites := must.Get(b.Invites(t.Context()))(t)
	invite.UsedAt, invite.UsedBy = b.now().UTC(), r.AccessKey
	check.Equalf(t, []Invite{invite}, invites, "list of invites")
}

func TestATokenThatCannotRegisterIsRefused(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	preset := Preset{Name: "Acme", Level: "gold", MaxSubKeys: 3}
	create := func(expiresIn int64) (string, Invite) {
		return must.Get2(b.CreateInvite(t.Context(), preset, expiresIn))(t)
	}
	used, _ := create(0)
	must.Get(b.Register(t.Context(), used))(t)
	revoked, invite := create(0)
	must.Do(t, b.RevokeInvite(t.Context(), invite.ID))
	expired, _ := create(60)
	b.move(time.Minute)
	for name, token := range map[string]string{
		"used": used, "revoked": revoked, "expired": expired,
		"unknown": newToken(), "empty": "", "short": used[:42], "id instead of token": invite.ID,
		"other last bits": used[:42] + "_", "not base64": strings.Repeat("!", 43), "line feed": used[:20] + "\n" + used[20:],
	} {
		_, err := b.Register(t.Context(), token)
		if err == nil {
			t.Errorf("%s: registered", name)
			continue
		}
		wantInvalid(t, err, "invite_token")
	}
	if all, err := b.Distributors(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("got %d distributors and error %v, want the one that registered", len(all), err)
	}
}

func TestAnInviteWithAnExpiryRegistersBeforeIt(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	token, _ := must.Get2(b.CreateInvite(t.Context(), Preset{Name: "Acme", Level: "gold"}, 60))(t)
	b.move(59 * time.Second)
	if _, err := b.Register(t.Context(), token); err != nil {
		t.Error(err)
	}
}

func TestConcurrentRegistrationsConsumeATokenOnce(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	token, _ := must.Get2(b.CreateInvite(t.Context(), Preset{Name: "Acme", Level: "gold", MaxSubKeys: 3}, 0))(t)
	errs := make([]error, 50)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { _, errs[i] = b.Register(t.Context(), token) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		wantInvalid(t, err, "invite_token")
	}
	if won != 1 {
		t.Errorf("%d of 50 registrations won, want 1", won)
	}
	if all, err := b.Distributors(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("got %d distributors and error %v, want 1", len(all), err)
	}
}

func TestInviteStatusFollowsItsLife(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	want := map[string]string{}
	add := func(name string, expiresIn int64) (string, Invite) {
		token, invite := must.Get2(b.CreateInvite(t.Context(), Preset{Name: name, Level: "l"}, expiresIn))(t)
		b.move(time.Second)
		return token, invite
	}
	add("unused", 0)
	add("expired", 1)
	add("later", 3600)
	token, _ := add("used", 0)
	must.Get(b.Register(t.Context(), token))(t)
	_, invite := add("revoked", 0)
	for range 2 { // the second changes nothing
		must.Do(t, b.RevokeInvite(t.Context(), invite.ID))
	}
	want["unused"], want["expired"], want["later"], want["used"], want["revoked"] = "unused", "expired", "unused", "used", "revoked"
	invites := must.Get(b.Invites(t.Context()))(t)
	order := make([]string, 0, len(invites))
	for _, i := range invites {
		order = append(order, i.Name)
		if got := i.Status(b.now()); got != want[i.Name] {
			t.Errorf("the status of %s is %s, want %s", i.Name, got, want[i.Name])
		}
	}
	check.Equalf(t, []string{"revoked", "used", "later", "expired", "unused"}, order, "invites, the newest first")
}

func TestRevokingWhatCannotBeRevokedFails(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	token, invite := must.Get2(b.CreateInvite(t.Context(), Preset{Name: "Acme", Level: "gold"}, 0))(t)
	must.Get(b.Register(t.Context(), token))(t)
	wantInvalid(t, b.RevokeInvite(t.Context(), invite.ID), "already used")
	for _, id := range []string{"", "x", strings.Repeat("0", 64), token} {
		if err := b.RevokeInvite(t.Context(), id); !errors.Is(err, ErrUnknownInvite) {
			t.Errorf("revoke %q: got %v, want ErrUnknownInvite", id, err)
		}
	}
}

func TestAPresetOutsideItsBoundsIsRefused(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for name, c := range map[string]struct {
		change    func(*Preset)
		expiresIn int64
		parameter string
	}{
		"no name":         {func(p *Preset) { p.Name = "" }, 0, "name"},
		"long name":       {func(p *Preset) { p.Name = strings.Repeat("é", 65) }, 0, "name"},
		"control in name": {func(p *Preset) { p.Name = "a\nb" }, 0, "name"},
		"broken UTF-8":    {func(p *Preset) { p.Name = "a\xff" }, 0, "name"},
		"no level":        {func(p *Preset) { p.Level = "" }, 0, "level"},
		"level with dot":  {func(p *Preset) { p.Level = "a.b" }, 0, "level"},
		"negative keys":   {func(p *Preset) { p.MaxSubKeys = -1 }, 0, "max_sub_keys"},
		"too many keys":   {func(p *Preset) { p.MaxSubKeys = maxSubKeys + 1 }, 0, "max_sub_keys"},
		"negative quota":  {func(p *Preset) { p.MaxTotalQuota = -1 }, 0, "max_total_quota"},
		"negative conns":  {func(p *Preset) { p.WSConnLimit = -1 }, 0, "ws_conn_limit"},
		"negative subs":   {func(p *Preset) { p.WSSubLimit = -1 }, 0, "ws_sub_limit"},
		"unknown grant":   {func(p *Preset) { p.Grants = []string{"no:SUCH"} }, 0, `"no:SUCH"`},
		"negative expiry": {func(*Preset) {}, -1, "expires_in"},
	} {
		t.Run(name, func(t *testing.T) {
			preset := Preset{Name: strings.Repeat("é", 64), Level: "gold", MaxSubKeys: 1}
			c.change(&preset)
			_, _, err := b.CreateInvite(t.Context(), preset, c.expiresIn)
			wantInvalid(t, err, c.parameter)
		})
	}
	if invites, err := b.Invites(t.Context()); err != nil || len(invites) != 0 {
		t.Errorf("got %d invites and error %v, want none", len(invites), err)
	}
}

func TestManyInvitesAreAllListed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for i := range 130 { // more than one batch read
		must.Get2(b.CreateInvite(t.Context(), Preset{Name: fmt.Sprint(i), Level: "l"}, 0))(t)
	}
	if invites, err := b.Invites(t.Context()); err != nil || len(invites) != 130 {
		t.Errorf("got %d invites and error %v, want 130", len(invites), err)
	}
}
