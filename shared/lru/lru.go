// Package lru remembers a bounded number of values: those that were used last.
package lru

import (
	"cmp"
	"container/list"
	"sync"
)

// Cache holds the most recently used values up to a number. It is safe for concurrent
// use.
type Cache[K comparable, V any] struct {
	Size int // how many, set before use; 0 is 10,000

	mu      sync.Mutex
	entries map[K]*list.Element
	order   list.List // of *entry, the most recently used first
}

// usual is the size where none is set.
const usual = 10_000

type entry[K comparable, V any] struct {
	key   K
	value V
}

// Get returns the value of a key; false where there is none, or none any more.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Set keeps the value of a key, in the place of one that was used longer ago.
func (c *Cache[K, V]) Set(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		e.Value.(*entry[K, V]).value = value
		c.order.MoveToFront(e)
		return
	}
	if c.entries == nil {
		c.entries = make(map[K]*list.Element)
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key, value})
	if len(c.entries) > cmp.Or(c.Size, usual) {
		c.remove(c.order.Back())
	}
}

// Delete drops the value of a key, if there is one.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.entries[key]; ok {
		c.remove(e)
	}
}

func (c *Cache[K, V]) remove(e *list.Element) {
	delete(c.entries, c.order.Remove(e).(*entry[K, V]).key)
}
