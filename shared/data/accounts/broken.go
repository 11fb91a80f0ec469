package accounts

import (
	"slices"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
)

// BrokenName is the view of the accounts whose rows lack events, as these did not come in
// an order in which they could be folded: they are being made again from the logs. Only
// the projection reads it, after a restart.
const BrokenName = "brokenaccounts"

// broken is the body of the view.
type broken struct {
	Accounts []string `json:"accounts"` // addresses, sorted
}

// PublishedBroken is how the view, which is addresses, is stored.
var PublishedBroken = store.ViewType[[]string]{Name: BrokenName, Write: encodeBroken, Read: decodeBroken}

func encodeBroken(addresses []string) []byte {
	list := slices.Concat([]string{}, addresses)
	slices.Sort(list)
	return dataset.JSON(broken{list})
}

func decodeBroken(body []byte) ([]string, error) {
	b, err := dataset.FromJSON[broken](body)
	return b.Accounts, err
}
