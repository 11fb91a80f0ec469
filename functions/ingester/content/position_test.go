package content

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quotary/functions/ingester/content/marketflash"
	"quotary/functions/ingester/engine"
	"quotary/functions/ingester/source"
	"quotary/shared/data/pairs"
	"quotary/shared/market"
	"quotary/shared/store/storetest"
	"quotary/shared/testing/must"
)

// Whatever sources of content remember, their checkpoints can be stored: here of names as long
// as they may be that have nothing in common, and are others at each look. What is remembered of
// a feed is filled in its own package.
func TestWhatSourcesRememberFitsIntoACheckpoint(t *testing.T) {
	t.Parallel()
	series := storetest.Open(t).Series
	for name, remembered := range map[string]any{"announcements": announcementsPosition(t), "markets": marketsMemory()} {
		position := must.Get(engine.PositionOf(remembered))(t)
		t.Logf("%s takes %d bytes", name, len(position))
		if err := series.SaveCheckpoint(t.Context(), name, position); err != nil {
			t.Errorf("%s, %d bytes: %v", name, len(position), err)
		}
	}
}

// days are so many that what is not bounded fits no longer.
const days = 30

var random = rand.New(rand.NewPCG(1, 2))

func longName() string {
	b := make([]byte, market.MaxName)
	for i := range b {
		b[i] = byte('!' + random.IntN('~'-'!'))
	}
	return string(b)
}

// marketsMemory is of markets on which all is new all the time.
func marketsMemory() *marketflash.Memory {
	m := new(marketflash.Memory)
	for look := range days * 24 {
		s := marketflash.Snapshot{Now: time.Unix(1_795_000_000, 0).Add(time.Duration(look) * time.Hour)}
		s.Perps.Time = s.Now.UnixMilli()
		coins := 100
		if look == 0 {
			coins = 2000
		}
		for n := range coins {
			c := market.Context{Coin: longName(), Mark: market.DecimalFromInt(int64(200 + n))}
			c.Day.Open, c.Day.Amount = market.DecimalFromInt(100), market.DecimalFromInt(random.Int64N(1_000_000))
			s.Perps.Coins = append(s.Perps.Coins, c)
		}
		pairsListed := 0
		switch left := days*24 - 1 - look; {
		case left == 0:
			pairsListed = 50_000
		case left <= 48:
			pairsListed = 50
		}
		for range pairsListed {
			base := longName()
			p := market.Pair{Key: market.PairKey(base, "USDT", "binance", false), Platform: "binance", Base: base, Quote: "USDT"}
			s.Pairs.Pairs = append(s.Pairs.Pairs, pairs.Pair{Pair: p})
		}
		m.Flashes(s)
	}
	return m
}

// busy announces others each time, as many as it likes, in as many categories as any exchange has.
type busy struct{ categories []string }

func (b busy) Categories() []string { return b.categories }

func (busy) Announcements(context.Context, source.AnnouncementLanguage, string, int) (list []market.Announcement, err error) {
	for range 200 {
		a := market.Announcement{Venue: "busy", ID: plainName(), Published: time.Now().UnixMilli() - random.Int64N(1e10)}
		a.Title = a.ID
		list = append(list, a)
	}
	return list, nil
}

func plainName() string {
	return strings.Map(func(r rune) rune { return 'a' + r%26 }, longName())[:48]
}

// announcementsPosition is of such announcements.
func announcementsPosition(t *testing.T) (at source.AnnouncementsAt) {
	var b busy
	for _, of := range announcers {
		if list := of("").Categories(); len(list) > len(b.categories) {
			b.categories = list
		}
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(27 * 365 * 24 * time.Hour) // to when there are exchanges
		ctx, stop := context.WithTimeout(t.Context(), days*24*time.Hour)
		defer stop()
		a := &source.Announcements{Of: b, Every: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
		err := a.Follow(ctx, nil, func(_ context.Context, _ []market.Announcement, next source.AnnouncementsAt) error {
			at = next
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	return at
}
