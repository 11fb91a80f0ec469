package source_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/binance"
	"quotary/functions/ingester/source/blockbeats"
	"quotary/functions/ingester/source/bybit"
	"quotary/functions/ingester/source/coingecko"
	"quotary/functions/ingester/source/daily"
	"quotary/functions/ingester/source/ecb"
	"quotary/functions/ingester/source/feeds"
	"quotary/functions/ingester/source/hyperliquid"
	"quotary/functions/ingester/source/okx"
	"quotary/functions/ingester/source/sec"
	"quotary/shared/market"
)

// unreadable are answers that nobody can read, each of which has a secret where errors of parsers
// quote what they read.
func unreadable() map[string]string {
	digits := strings.Repeat("5ECE7", 100_000)
	return map[string]string{
		"a page":               "<html><title>5ECE7</title>\u202e\x00",
		"an unknown encoding":  `<?xml version="1.0" encoding="5ECE7` + "\u202e" + digits + `"?><a/>`,
		"an element":           "<5ECE7></b>",
		"elements that differ": "<S5ECE7\u202e></b>",
		"an entity":            "<a>&S5ECE7;</a>",
		"a sentence":           "5ECE7\u202e are exceeded",
		"a text of JSON":       `"5ECE7"`,
		"a list of texts":      `["5ECE7` + "\u202e" + `"]`,
		"a list of rows":       `[["5ECE7","5ECE7","5ECE7","5ECE7","5ECE7"]]`,
		"a number":             strings.ReplaceAll(digits, "ECE", "313"),
		"members of it":        `{"code":"0","retCode":0,"data":"5ECE7","result":"5ECE7","symbols":"5ECE7","cik":"5ECE7","facts":{"dei":"5ECE7"},"metadata":{},"status":0,"version":"5ECE7","items":"5ECE7"}`,
		"numbers in it":        `{"code":7` + strings.ReplaceAll(digits, "ECE", "313") + `,"retCode":53137` + strings.ReplaceAll(digits, "ECE", "313") + `}`,
		"rows of coins":        `[{"id":"5ECE7\u202e ","symbol":"x","name":"x"},{"id":"x","symbol":"x","name":"x","last_updated":"5ECE7"},{"id":"x","market_cap_rank":"5ECE7"},{"id":"x","current_price":"5ECE7"}]`,
	}
}

// What a source says of an answer that it cannot read, to the log and to whoever asks for its last
// trouble, is our own: nothing of the answer is in it.
func TestNothingOfAnAnswerIsQuoted(t *testing.T) {
	t.Parallel()
	pair := market.Pair{Symbol: "A", Swap: true}
	sources := map[string]func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error{
		"ECB": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return (&ecb.Rates{URL: address, Stats: stats, Log: log}).Follow(ctx, nil)
		},
		"Cboe": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return followDays(ctx, daily.VIX(address, "k"), stats, log)
		},
		"Stooq": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return followDays(ctx, daily.Stooq(address, "", []daily.Symbol{{Key: "k", Name: "n"}}), stats, log)
		},
		"fear and greed": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return followDays(ctx, daily.FearGreed(address, "k"), stats, log)
		},
		"CoinGecko": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return (&coingecko.Markets{URL: address, Pages: 1, Every: time.Hour, Stats: stats, Log: log}).Follow(ctx, nil)
		},
		"SEC": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return (&sec.Facts{URL: address, Contact: "c", Companies: []sec.Company{{Key: "k", CIK: 7}}, Every: time.Hour, Stats: stats, Log: log}).Follow(ctx, nil)
		},
		"a feed": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return followFeed(ctx, address, feeds.Format{}, stats, log)
		},
		"BlockBeats": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return followFeed(ctx, address, blockbeats.List{Language: blockbeats.English}.Format(), stats, log)
		},
		"venue": func(ctx context.Context, address string, _ *source.Stats, _ *slog.Logger) error {
			_, err := hyperliquid.NewInfo(address).PerpDexs(ctx)
			return err
		},
		"mids": func(ctx context.Context, address string, _ *source.Stats, _ *slog.Logger) error {
			_, err := hyperliquid.NewInfo(address).AllMids(ctx, "")
			return err
		},
		"Binance": func(ctx context.Context, address string, _ *source.Stats, log *slog.Logger) error {
			m := binance.Open(address, log)[1]
			_, err := m.Pairs(ctx)
			_, err2 := m.PastFundings(ctx, pair, 0, 1)
			return fmt.Errorf("%w %w", err, err2)
		},
		"Bybit": func(ctx context.Context, address string, _ *source.Stats, log *slog.Logger) error {
			_, err := bybit.Open(address, log)[1].Pairs(ctx)
			return err
		},
		"OKX": func(ctx context.Context, address string, _ *source.Stats, log *slog.Logger) error {
			_, err := okx.Open(address, log)[1].Pairs(ctx)
			return err
		},
		"announcements": func(ctx context.Context, address string, stats *source.Stats, log *slog.Logger) error {
			return (&source.Announcements{Of: binance.OpenAnnouncements(address), Every: time.Hour, Stats: stats, Log: log}).Follow(ctx, nil, func(context.Context, []market.Announcement, source.AnnouncementsAt) error { return errEnough })
		},
	}
	for kind, text := range unreadable() {
		for name, ask := range sources {
			t.Run(name+" of "+kind, func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }))
				defer server.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var said bytes.Buffer
				stats := new(source.Stats)
				log := slog.New(ending{slog.NewTextHandler(&said, nil), cancel})
				if err := ask(ctx, server.URL, stats, source.Watched(log, stats)); err != nil {
					fmt.Fprint(&said, " ", err)
				}
				fmt.Fprint(&said, " ", stats.Trouble())
				for _, quoted := range []string{"5ece7", "53137", "\u202e", "\x00"} {
					if strings.Contains(strings.ToLower(said.String()), quoted) {
						t.Errorf("%.300q", said.String())
						break
					}
				}
			})
		}
	}
}

func followDays(ctx context.Context, s *daily.Series, stats *source.Stats, log *slog.Logger) error {
	s.Every, s.Stats, s.Log = time.Hour, stats, log
	return s.Follow(ctx, func(context.Context, time.Time, []market.DayQuote) error { return errEnough })
}

func followFeed(ctx context.Context, address string, format feeds.Format, stats *source.Stats, log *slog.Logger) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	s := &feeds.Source{Client: feeds.NewClient(), URL: at, Format: format, Every: time.Hour, Stats: stats, Log: log}
	return s.Follow(ctx, feeds.Position{}, func(context.Context, feeds.Delivery) error { return errEnough })
}

// ending is a handler that ends what writes to it.
type ending struct {
	slog.Handler
	end func()
}

// Handle writes the record and ends.
func (e ending) Handle(ctx context.Context, r slog.Record) error {
	defer e.end()
	return e.Handler.Handle(ctx, r)
}

// What is logged of an upstream is one short line, whoever words it.
func TestTextsAreLoggedAsLines(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	stats := new(source.Stats)
	log := source.Watched(slog.New(slog.NewTextHandler(&said, nil)), stats)
	long := "a\u202eb\n\x00c " + strings.Repeat("d", 1<<20)
	log.Warn("trouble", "error", long, "frame", fmt.Errorf("%s", long), "count", 7)
	if text := said.String(); len(text) > 1200 || strings.Contains(text, "\u202e") || strings.Count(text, `"ab c ddd`) != 2 || !strings.Contains(text, "count=7") {
		t.Errorf("%.300q of %d bytes", text, len(text))
	}
	if text := stats.Trouble(); len(text) > 300 || !strings.HasPrefix(text, "ab c ddd") {
		t.Errorf("%.50q", text)
	}
}
