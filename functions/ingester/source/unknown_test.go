package source

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"quotary/shared/market"
)

// A name becomes a part of keys, which no store takes when they are too long.
func TestOnlyAMarketOfShortVisibleNamesIsNamed(t *testing.T) {
	t.Parallel()
	longest, long := strings.Repeat("A", market.MaxName), strings.Repeat("A", market.MaxName+1)
	for names, want := range map[[3]string]bool{
		{"BTCUSDT", "BTC", "USDT"}:       true,
		{longest, longest, longest}:      true,
		{long, "BTC", "USDT"}:            false,
		{"BTCUSDT", long, "USDT"}:        false,
		{"BTCUSDT", "BTC", long}:         false,
		{"", "BTC", "USDT"}:              false,
		{"BTCUSDT", "", "USDT"}:          false,
		{"BTCUSDT", "BTC", ""}:           false,
		{"BTCUSDT", "BTC:x", "USDT"}:     false,
		{"BTC\u202eUSDT", "BTC", "USDT"}: false,
	} {
		info := NewMarketInfo("market", "exchange", false, slog.New(slog.DiscardHandler))
		listed := info.Listing()
		got := info.Named(names[0], names[1], names[2])
		listed()
		if got != want || info.UnknownMarkets() != map[bool]int64{false: 1}[want] {
			t.Errorf("%q: %t, and %d markets are unknown", names, got, info.UnknownMarkets())
		}
	}
}

func TestWhatIsNotKnownIsLoggedSoOftenOnly(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	info := NewMarketInfo("market", "exchange", false, slog.New(slog.NewTextHandler(&log, nil)))
	for i := range 3 * mostSaid {
		info.Unknown("X", "status", strconv.Itoa(i))
	}
	if n := strings.Count(log.String(), "\n"); n != mostSaid {
		t.Errorf("%d lines are logged", n)
	}
}
