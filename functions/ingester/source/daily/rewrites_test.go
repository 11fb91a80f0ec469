package daily_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quotary/functions/ingester/source"
	"quotary/functions/ingester/source/daily"
	"quotary/shared/market"
	"quotary/shared/testing/testclock"
)

// Each month of a history is a row that is paid for: who changes decades with each look makes no more of them than
// splits of a share do, while the days of now are as it says.
func TestAHistoryIsRewrittenSeldom(t *testing.T) {
	t.Parallel()
	const kept, recent = 500, 61
	clock := testclock.At(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	var looks atomic.Int64
	url, _ := served(t, func(w http.ResponseWriter, n int, _ *http.Request) {
		looks.Store(int64(n))
		var b strings.Builder
		b.WriteString("DATE,OPEN,HIGH,LOW,CLOSE\n")
		for ago := range kept {
			fmt.Fprintf(&b, "%s,1,1,1,1.%02d\n", clock.Now().AddDate(0, 0, -ago).Format("01/02/2006"), n)
		}
		_, _ = w.Write([]byte(b.String()))
	})
	s := daily.VIX(url, "i:vix:cboe")
	s.Every, s.Stats, s.Log, s.Now = time.Millisecond, new(source.Stats), slog.New(slog.DiscardHandler), clock.Now
	var delivered []int
	err := s.Follow(t.Context(), func(_ context.Context, _ time.Time, days []market.DayQuote) error {
		if newest := clock.Now().Format(time.DateOnly); days[len(days)-1].Date != newest {
			t.Errorf("look %d: the last day is %s, want %s", looks.Load(), days[len(days)-1].Date, newest)
		}
		delivered = append(delivered, len(days))
		switch looks.Load() {
		case 5:
			clock.Move(24 * time.Hour)
		case 7:
			return errEnough
		}
		return nil
	})
	if want := fmt.Sprint([]int{kept, kept, kept, recent, recent, kept, recent}); !errors.Is(err, errEnough) || fmt.Sprint(delivered) != want {
		t.Errorf("delivered are %v days, want %s; %v", delivered, want, err)
	}
}
