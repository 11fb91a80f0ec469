package market

import (
	"iter"
	"strings"
)

// Slots of the table. Those of an account are a list, so that what the venue says of one
// account is compared with the orders of that account alone.

func (t *OpenOrders) at(slot uint32) *openOrder { return &t.slabs[slot/slabSize][slot%slabSize] }

// freeSlot returns a slot for another order.
func (t *OpenOrders) freeSlot() (slot uint32) {
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
		return slot
	}
	slot = t.used
	t.used++
	if int(slot)/slabSize == len(t.slabs) {
		t.slabs = append(t.slabs, make([]openOrder, slabSize))
	}
	return slot
}

// link makes an order known that a slot has.
func (t *OpenOrders) link(oid int64, slot uint32) {
	if t.slots == nil {
		t.slots, t.accounts = map[int64]uint32{}, map[accountID]uint32{}
	}
	t.slots[oid] = slot
	o := t.at(slot)
	if o.next = t.accounts[o.account]; o.next != 0 {
		t.at(o.next - 1).previous = slot + 1
	}
	t.accounts[o.account] = slot + 1
}

// unlink frees the slot of an order.
func (t *OpenOrders) unlink(oid int64, slot uint32) {
	o := t.at(slot)
	if o.next != 0 {
		t.at(o.next - 1).previous = o.previous
	}
	switch {
	case o.previous != 0:
		t.at(o.previous - 1).next = o.next
	case o.next != 0:
		t.accounts[o.account] = o.next
	default:
		delete(t.accounts, o.account)
	}
	*o = openOrder{free: true}
	t.free = append(t.free, slot)
	delete(t.slots, oid)
}

// all are the orders in no order. They may be ended meanwhile.
func (t *OpenOrders) all() iter.Seq[*openOrder] {
	return func(yield func(*openOrder) bool) {
		for slot := range t.used {
			if o := t.at(slot); !o.free && !yield(o) {
				return
			}
		}
	}
}

// of are the orders of an account in no order. The one at hand may be ended.
func (t *OpenOrders) of(account accountID) iter.Seq[*openOrder] {
	return func(yield func(*openOrder) bool) {
		for next := t.accounts[account]; next != 0; {
			o := t.at(next - 1)
			if next = o.next; !yield(o) {
				return
			}
		}
	}
}

// names numbers texts that come again and again. The zero value has the number 0 for "".
type names struct {
	list []string
	ids  map[string]uint16
}

// id is the number of a text; ok is false when there are no more.
func (n *names) id(text string) (id uint16, ok bool) {
	if n.ids == nil {
		n.list, n.ids = []string{""}, map[string]uint16{"": 0}
	}
	if id, ok = n.ids[text]; ok {
		return id, true
	}
	if len(n.list) > 1<<15 {
		return 0, false
	}
	text = strings.Clone(text)
	id = uint16(len(n.list))
	n.list, n.ids[text] = append(n.list, text), id
	return id, true
}
