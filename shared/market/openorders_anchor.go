package market

// AddAnchors takes in the open orders that the venue lists of accounts: those that were
// placed before the node was followed are known by nothing else. An order of an account
// that is missing in the list of all orders in its dex has ended. The venue is right: this
// is a repair, and what it ends does not follow from the events.
func (t *OpenOrders) AddAnchors(anchors []Anchor) (changed bool) {
	for i := range anchors {
		changed = t.addAnchor(&anchors[i]) || changed
	}
	return changed
}

func (t *OpenOrders) addAnchor(a *Anchor) (changed bool) {
	listed := make(map[int64]bool, len(a.Orders))
	for i := range a.Orders {
		s := &a.Orders[i]
		listed[s.Oid] = true
		if s.isResting() {
			changed = t.open(s, true, true) || changed
		}
		t.follow(s, true)
	}
	account, ok := ParseAccount(a.Address)
	if !ok || len(a.Listed) == 0 {
		return changed
	}
	for o := range t.of(account) {
		ms, all := a.Listed[DexOf(t.coins.list[o.coin])]
		if all && !listed[o.oid] && o.placed < ms-listedAfter {
			changed = t.end(o.oid, ms) || changed
		}
	}
	return t.listed(a, account, listed) || changed
}
