package airdropsite

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEveryDayHasAirdropsThatAreLive(t *testing.T) {
	t.Parallel()
	morning := time.Date(2026, 11, 23, 1, 0, 0, 0, time.UTC)
	if !bytes.Equal(Drop(morning), Drop(morning.Add(22*time.Hour))) || bytes.Equal(Drop(morning), Drop(morning.Add(24*time.Hour))) {
		t.Error("the drop of a day is not the same all day long, or that of every day")
	}
	var ids []string
	upcoming, ongoing, finished := 0, 0, 0
	for _, a := range Airdrops(morning) {
		switch at := morning.UnixMilli(); {
		case a.Start > at:
			upcoming++
		case a.End != 0 && a.End <= at:
			finished++
		default:
			ongoing++
		}
		ids = append(ids, a.ID)
		if !strings.Contains(a.Name+a.TitleEN, "Simulated") || !strings.Contains(a.TitleCN, "模拟") {
			t.Errorf("%s does not say that it is simulated", a.ID)
		}
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(ids))); len(distinct) != len(ids) || upcoming == 0 || ongoing == 0 || finished == 0 {
		t.Errorf("%d upcoming, %d ongoing, %d finished: %v", upcoming, ongoing, finished, ids)
	}
	if got := bytes.Count(Drop(morning), []byte("\n")); got != len(ids) {
		t.Errorf("%d lines", got)
	}
}
