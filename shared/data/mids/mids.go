// Package mids is the view of the mid prices of all coins.
package mids

import (
	"time"

	"quotary/shared/store"
)

// Name of the view.
const Name = "mids"

// View is the state of all coins.
type View struct {
	Time int64                        `json:"time"` // of the newest price, ms
	Mids map[string]map[string]string `json:"mids"` // price in quote units by dex and coin; the main dex is ""
}

// Published is how the view is stored.
var Published = store.ViewType[View]{Name: Name, Period: time.Second}
