package catalog

// Paging is where a page of a list stands in it.
type Paging struct {
	Page     int64 `json:"page"`      // number of the page, from 1
	PageSize int64 `json:"page_size"` // most rows of a page
	Total    int64 `json:"total"`     // rows of all pages together
}

// Paged is a list of which page, page_size and total stand in the envelope beside
// data.
type Paged[T any] struct {
	Data []T `json:"data"`
	Paging
}

// Members implements [Members].
func (p Paged[T]) Members() any {
	if p.Data == nil {
		p.Data = []T{} // [] on the wire, never null
	}
	return p
}

// Members is an answer that is more than data. Its type is a struct whose members
// all stand in the envelope; one of them is data.
type Members interface {
	// Members returns the struct to encode.
	Members() any
}
