package perp

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quotary/functions/ingester/engine"
	"quotary/shared/data/vaults"
	"quotary/shared/market"
	"quotary/shared/text/lenient"
)

// vaultFacts keeps the view of the venue's vaults: of what the venue tells, and of the ledger updates
// that name one.
type vaultFacts struct {
	known map[string]vaults.Vault
	asked *vaultQuestions
}

// newVaults is folded from stored ledger updates too.
func newVaults(asked *vaultQuestions) Projection {
	return engine.KeepView(vaults.Published, func() *vaultFacts {
		return &vaultFacts{known: map[string]vaults.Vault{}, asked: asked}
	}).FoldedFrom(storedLedgers)
}

// Restore takes the vaults from the view.
func (p *vaultFacts) Restore(v vaults.View) error {
	for i := range v.Vaults {
		p.put(&v.Vaults[i])
	}
	return nil
}

// Apply takes what the venue told, and the vaults that ledger updates name.
func (p *vaultFacts) Apply(b *Batch, _ time.Time) (changed bool) {
	for i := range b.Vaults {
		told := &b.Vaults[i]
		for _, of := range told.Vaults {
			changed = p.change(of.Address, func(v *vaults.Vault) { v.Tell(of, told.Time) }) || changed
		}
	}
	for i := range b.Ledgers {
		if l := &b.Ledgers[i]; strings.HasPrefix(l.Type, "vault") {
			changed = p.ledger(l) || changed
		}
	}
	return changed
}

// ledger takes the vault that an update names. Who makes a vault leads it, as long as the venue does not
// tell another leader.
func (p *vaultFacts) ledger(l *market.Ledger) (changed bool) {
	var delta struct {
		Vault string `json:"vault"`
	}
	if lenient.Object(l.Delta, &delta) != nil {
		return false
	}
	address, ok := market.ParseAddress(delta.Vault)
	return ok && p.change(address, func(v *vaults.Vault) {
		if l.Type != "vaultCreate" {
			return
		}
		v.Create(l.Time)
		if v.Told == 0 && v.Leader == "" && l.Address != address {
			v.Leader = strings.Clone(l.Address)
		}
	})
}

// change changes what is known of a vault, which may be a new one, and reports whether it is another now.
func (p *vaultFacts) change(address string, do func(*vaults.Vault)) bool {
	before, known := p.known[address]
	if !known && len(p.known) >= vaults.Most {
		p.asked.leftOut.Add(1)
		return false
	}
	after := before
	after.Address = address
	if do(&after); known && after == before {
		return false
	}
	if !known {
		after.Address = strings.Clone(address)
	}
	p.put(&after)
	return true
}

func (p *vaultFacts) put(v *vaults.Vault) {
	p.known[v.Address] = *v
	p.asked.note(v.Address, v.Asked)
}

// View has all vaults.
func (p *vaultFacts) View(time.Time) vaults.View {
	return vaults.View{Vaults: slices.Collect(maps.Values(p.known))}
}

// vaultQuestions are the vaults that the venue is to be asked for: each that is known once, and again
// after a long while, as it may be renamed or closed. They are used by the projection and the source at
// the same time.
type vaultQuestions struct {
	leftOut atomic.Int64 // vaults for which there was no place

	mu    sync.Mutex
	asked map[string]int64 // when each was asked for last, ms; 0 never
}

const (
	vaultAgain    = 30 * 24 * time.Hour // until one is asked for again
	vaultTryAgain = time.Hour           // until one is asked for again of which no answer came
)

func newVaultQuestions() *vaultQuestions { return &vaultQuestions{asked: map[string]int64{}} }

// note notes when a vault was asked for last, ms.
func (q *vaultQuestions) note(address string, ms int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked[address] = max(q.asked[address], ms)
}

// next is the vault that has waited longest to be asked for; false where none waits. It is not given again
// before its answer has had time to come.
func (q *vaultQuestions) next(now time.Time) (address string, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	oldest := now.Add(-vaultAgain).UnixMilli()
	for a, at := range q.asked {
		if at < oldest || at == oldest && ok && a < address {
			address, oldest, ok = a, at, true
		}
	}
	if ok {
		q.asked[address] = now.Add(vaultTryAgain - vaultAgain).UnixMilli()
	}
	return address, ok
}
