package feeds

// seen remembers the last keys that were added. The zero value is empty.
type seen[K comparable] struct {
	keys map[K]struct{}
	ring []K
	next int
}

// add reports whether the key is new; of more than most keys the oldest is
// forgotten.
func (s *seen[K]) add(key K, most int) bool {
	if _, ok := s.keys[key]; ok {
		return false
	}
	if s.keys == nil {
		s.keys = make(map[K]struct{})
	}
	s.keys[key] = struct{}{}
	if len(s.ring) < most {
		s.ring = append(s.ring, key)
		return true
	}
	delete(s.keys, s.ring[s.next])
	s.ring[s.next] = key
	s.next = (s.next + 1) % most
	return true
}
