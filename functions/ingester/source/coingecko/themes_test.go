package coingecko_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/coingecko"
	"quotary/shared/market"
	"quotary/shared/testing/testenv"
)

// Themes come after the prices of coins, each with its coins in their order. A category that is
// empty or refused says nothing, and rows that are none are counted.
func TestCoinsOfThemesAreAskedForOnce(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("category") {
		case "":
			fmt.Fprintf(w, "[%s]", row("all", ""))
		case "decentralized-finance-defi":
			fmt.Fprintf(w, `[%s,{"id":""},%s]`, row("second", ""), row("first", ""))
		case "gaming":
			http.NotFound(w, r)
		case "stablecoins":
			fmt.Fprintf(w, "[%s]", row("stable", ""))
		default:
			fmt.Fprint(w, "[]")
		}
	}))
	defer server.Close()
	var got []string
	polls := 0
	m := &coingecko.Markets{URL: server.URL, Pages: 1, Every: time.Millisecond, ThemesEvery: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	m.Themes = func(_ context.Context, theme market.CoinTheme) error {
		if len(theme.Coins) == 0 || theme.Time <= 0 {
			t.Errorf("%+v", theme)
		}
		got = append(got, fmt.Sprint(theme.Key, theme.Coins))
		return nil
	}
	err := m.Follow(t.Context(), func(context.Context, []market.CoinMarket) error {
		if polls++; polls == 3 {
			return errEnough
		}
		return nil
	})
	if diff := cmp.Diff([]string{"defi[second first]", "stable[stable]"}, got); diff != "" || !errors.Is(err, errEnough) {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if m.Stats.Malformed.Load() != 1 {
		t.Errorf("%d rows are malformed", m.Stats.Malformed.Load())
	}
}

// What takes themes ends the source where it fails, as what takes prices does.
func TestAFailureToKeepThemesEndsTheSource(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "[%s]", row("a", "")) }))
	defer server.Close()
	m := &coingecko.Markets{URL: server.URL, Pages: 1, Every: time.Hour, ThemesEvery: time.Hour, Stats: new(source.Stats), Log: slog.New(slog.DiscardHandler)}
	m.Themes = func(context.Context, market.CoinTheme) error { return errEnough }
	if err := m.Follow(t.Context(), func(context.Context, []market.CoinMarket) error { return nil }); !errors.Is(err, errEnough) {
		t.Error(err)
	}
}

// Recorded answers of /coins/markets are read, every row of them.
func TestRecordedMarketsAreRead(t *testing.T) {
	t.Parallel()
	read := map[string]int{}
	for scanner := testenv.Recording(t, "coins/coingecko_fixtures.jsonl"); scanner.Scan(); {
		var answer struct {
			Path     string
			Response json.RawMessage
		}
		if err := json.Unmarshal(scanner.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Path != "/api/v3/coins/markets" {
			read["other answers"]++
			continue
		}
		var rows []json.RawMessage
		if err := json.Unmarshal(answer.Response, &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			read["rows"]++
			if coin, err := coingecko.Parse(row); err != nil || coin.Price == "" || coin.Supply == "" || coin.Image == "" || coin.Rank == 0 {
				read["refused"]++
				t.Logf("%+v: %v: %.200s", coin, err, row)
			}
		}
	}
	t.Log(read)
	if read["rows"] == 0 || read["refused"] > 0 {
		t.Errorf("read %v", read)
	}
}

// A recorded list of all coins has no price, so that its rows are given a time here: every key and
// name is taken, or counted.
func TestRecordedNamesAreRead(t *testing.T) {
	t.Parallel()
	const made = `,"last_updated":"2026-11-20T09:59:31.736Z"`
	reasons := map[string]int{}
	taken, all := 0, 0
	for scanner := testenv.Recording(t, "coins/coingecko_coins_list_2025-05.json.gz"); scanner.Scan(); {
		line := bytes.Trim(scanner.Bytes(), ", \r")
		if len(line) < 2 {
			continue // a bracket of the list
		}
		all++
		if _, err := coingecko.Parse(slices.Concat(line[:len(line)-1], []byte(made+"}"))); err != nil {
			reasons[err.Error()]++
			continue
		}
		taken++
	}
	t.Log(taken, "of", all, "are taken; refused:", reasons)
	if taken < all*99/100 || all == 0 {
		t.Errorf("%d of %d are taken: %v", taken, all, reasons)
	}
}
