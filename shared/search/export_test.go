package search

// Work is what a search took: postings and places of words that were looked at.
func (x *Index) Work(query string) int {
	_, _, work := x.find(query, 0, 20)
	return work
}
