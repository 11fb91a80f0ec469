package hyperliquid

import (
	"context"
	"time"
)

// HoursSize is how much the venue has published of some hours.
type HoursSize struct {
	Hours, Files int   // hours, and their files that are there
	Fills        int64 // bytes of fills, as they are stored
	Misc         int64 // bytes of all else
}

// MeasureHours lists the hours from one to another, without it, and reads none.
func MeasureHours(ctx context.Context, bucket HourBucket, from, to time.Time) (size HoursSize, err error) {
	listed := map[string]map[string]HourFile{}
	for hour := hourAt(from); hour.begins().Before(to); hour = hour.next() {
		size.Hours++
		for i := range hourStreams {
			s := &hourStreams[i]
			day := s.day(hour)
			if listed[day] == nil {
				if listed[day], err = bucket.List(ctx, day); err != nil {
					return size, err
				}
			}
			file, there := listed[day][s.key(hour)]
			if !there {
				continue
			}
			size.Files++
			if i == fillStream {
				size.Fills += file.Size
			} else {
				size.Misc += file.Size
			}
		}
	}
	return size, nil
}
