// Package publication publishes a table in versions of which each is whole.
//
// A version is some files that are never changed, and a manifest that names them. There are three
// kinds of files: one of the rows that change all the time (hot), one of all others (cold), which is
// made seldom, and one of the cold rows that have changed since (overlay). Of an address that is in
// several of them the row of the last file of the manifest counts, which is also the one of the
// latest version: so engines that know nothing of the manifest find it.
//
// [Publisher.Publish] writes new files first and then the manifest, in one request: a crash at any
// line leaves the version before whole, and files that nobody names. Then it writes the list of the
// files for other engines, in one request as well, and at last removes the files that no version of the
// last while names: who reads the version before goes on. Between manifest and list, and where a
// publication ends there, the list is of the version before, and whole.
package publication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"quotary/functions/ingester/objects"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
)

// The tiers of files, in the order in which a manifest names them.
const (
	Cold    = "cold"
	Overlay = "overlay"
	Hot     = "hot"
)

const (
	suffix    = ".parquet" // of the keys of files
	state     = "state"    // what the key of the object ends with that goes with a version
	mostTries = 10         // to find a version of which there is no file yet
)

// Files are those that versions have left.
type Files interface {
	// Files lists the keys of all files that begin with a prefix.
	Files(ctx context.Context, prefix string) ([]string, error)
	// Remove removes a file, which may be gone.
	Remove(ctx context.Context, key string) error
}

// Store has the files of a table, and the manifest.
type Store interface {
	tablefile.Objects
	Files
	// Create writes a file that does not exist; the error may be [objects.ErrExists].
	Create(ctx context.Context, key string, file []byte) error

	// Manifest is the newest one that was written; the zero value before the first.
	Manifest(ctx context.Context) (tablefile.Manifest, error)
	// Replace writes the manifest, unless somebody else publishes by now.
	Replace(ctx context.Context, m tablefile.Manifest) error
	// List writes the keys of a version for engines that do not know manifests, unless somebody else
	// publishes by now.
	List(ctx context.Context, keys []string) error
}

// Publisher publishes the versions of a table, one at a time.
type Publisher struct {
	Columns []tablefile.Column
	Prefix  string // of the keys of its files, with a slash at the end
	Store   Store
	Keep    time.Duration // for how long a file stays that no version names any more
	Now     func() time.Time
}

// Change is what makes the next version of a table of the last one.
type Change struct {
	Hot  *tablefile.Part // the rows of the hot tier, all of them
	Left *tablefile.Part // rows of others that have changed, those that have left the hot tier among them; nil for none
	Cold bool            // whether the cold tier is made again, of what it was, the overlay and Left

	Until int64 // up to when all that happened is in it, as [tablefile.Manifest] has it

	State []byte // the object that goes with the version, see [tablefile.Manifest]; nil for the one of the last

	// Refresh makes anew what changes by itself in the rows of a part that are written again; nil is nothing.
	Refresh func(*tablefile.Part) *tablefile.Part
}

// Publish publishes the next version. It takes each column of all cold rows into memory in turn where
// the cold tier is made again.
func (p *Publisher) Publish(ctx context.Context, c Change) (tablefile.Manifest, error) {
	last, err := p.Store.Manifest(ctx)
	if err != nil {
		return last, fmt.Errorf("read the manifest: %w", err)
	}
	next := tablefile.Manifest{Version: max(p.Now().UnixMilli(), last.Version+1), Until: c.Until, State: last.State}
	for try := 0; ; try++ {
		if err = p.write(ctx, &c, last.Files, &next); !errors.Is(err, objects.ErrExists) || try == mostTries {
			break
		}
		next.Version++ // of one that ended before its manifest, while the clock stood behind
	}
	if err != nil {
		return last, fmt.Errorf("publish version %d: %w", next.Version, err)
	}
	next.Left = Left(last.Left, last.All(), next.All(), next.Version, next.Version-p.Keep.Milliseconds())
	if err := p.Store.Replace(ctx, next); err != nil {
		return last, fmt.Errorf("publish version %d: %w", next.Version, err)
	}
	if err := p.tidy(ctx, next); err != nil {
		return next, fmt.Errorf("tidy up behind version %d: %w", next.Version, err)
	}
	return next, nil
}

// write writes the files of a version, and names all that it is made of.
func (p *Publisher) write(ctx context.Context, c *Change, last []tablefile.Named, next *tablefile.Manifest) (err error) {
	cold, overlay, version := OfTier(last, Cold), OfTier(last, Overlay), next.Version
	hot := make(map[table.Address]bool, len(c.Hot.Addresses))
	for _, a := range c.Hot.Addresses {
		hot[a] = true
	}
	isHot := func(a table.Address) bool { return hot[a] }
	switch {
	case c.Cold:
		cold, err = p.merge(ctx, Cold, version, slices.Concat(cold, overlay), c, isHot)
		overlay = nil
	case c.Left != nil && len(c.Left.Addresses) > 0:
		overlay, err = p.merge(ctx, Overlay, version, overlay, c, isHot)
	}
	if err != nil {
		return err
	}
	if c.State != nil {
		next.State = tablefile.Named{Key: p.key(version, state), Bytes: int64(len(c.State))}
		if err := p.Store.Create(ctx, next.State.Key, c.State); err != nil {
			return err
		}
	}
	named, err := p.create(ctx, Hot, version, c.Hot)
	next.Files = slices.Concat(cold, overlay, named)
	return err
}

// key is that of an object of a version.
func (p *Publisher) key(version int64, name string) string {
	return p.Prefix + strconv.FormatInt(version, 10) + "-" + name
}

// merge writes what files and the rows that have changed come to as one file, without the hot rows; none where
// nothing is left.
func (p *Publisher) merge(ctx context.Context, tier string, version int64, of []tablefile.Named, c *Change, isHot func(table.Address) bool) ([]tablefile.Named, error) {
	files, err := Open(ctx, p.Store, of)
	if err != nil {
		return nil, err
	}
	part, err := tablefile.Merge(ctx, p.Columns, files, c.Left, isHot)
	if err != nil {
		return nil, fmt.Errorf("merge the tier %s: %w", tier, err)
	}
	if c.Refresh != nil {
		part = c.Refresh(part)
	}
	return p.create(ctx, tier, version, part)
}

// create writes a file; none for a part without rows.
func (p *Publisher) create(ctx context.Context, tier string, version int64, part *tablefile.Part) ([]tablefile.Named, error) {
	if len(part.Addresses) == 0 {
		return nil, nil
	}
	of := *part
	of.Tier, of.Version = tier, version
	body, err := tablefile.Bytes(p.Columns, &of)
	if err != nil {
		return nil, fmt.Errorf("make a file of the tier %s: %w", tier, err)
	}
	key := p.key(version, tier+suffix)
	if err := p.Store.Create(ctx, key, body); err != nil {
		return nil, err
	}
	return []tablefile.Named{{Key: key, Bytes: int64(len(body))}}, nil
}

// tidy writes the list of the files of a version, and removes those that no version of the last while has
// named.
func (p *Publisher) tidy(ctx context.Context, m tablefile.Manifest) error {
	var keys []string
	for _, f := range m.Files {
		keys = append(keys, f.Key)
	}
	if err := p.Store.List(ctx, keys); err != nil {
		return fmt.Errorf("list its files: %w", err)
	}
	return Tidy(ctx, p.Store, p.Prefix, m.Version-p.Keep.Milliseconds(), m.All(), m.Left)
}

// Left are the files that versions have named up to the one before next, of a time in ms, and next does
// not, as far as they were named after oldest, ms.
func Left(left []tablefile.Left, before, next []tablefile.Named, version, oldest int64) (list []tablefile.Left) {
	for _, l := range left {
		if l.Since > oldest {
			list = append(list, l)
		}
	}
	named := make(map[tablefile.Named]bool, len(next))
	for _, f := range next {
		named[f] = true
	}
	for _, f := range before {
		if !named[f] {
			list = append(list, tablefile.Left{Key: f.Key, Since: version})
		}
	}
	return list
}

// Tidy removes the files below a prefix that are neither named nor left, of versions up to oldest, ms: those of
// somebody who publishes now are younger.
func Tidy(ctx context.Context, store Files, prefix string, oldest int64, named []tablefile.Named, left []tablefile.Left) error {
	keep := make(map[string]bool, len(named)+len(left))
	for _, f := range named {
		keep[f.Key] = true
	}
	for _, l := range left {
		keep[l.Key] = true
	}
	all, err := store.Files(ctx, prefix)
	if err != nil {
		return fmt.Errorf("list all files: %w", err)
	}
	for _, key := range all {
		if version, ok := versionOf(key, prefix); !ok || version > oldest || keep[key] {
			continue
		}
		if err := store.Remove(ctx, key); err != nil {
			return fmt.Errorf("remove %s: %w", key, err)
		}
	}
	return nil
}

// versionOf is the version that wrote a file, with which its key begins behind the prefix; false for a key
// that is none of a file.
func versionOf(key, prefix string) (version int64, ok bool) {
	name, ours := strings.CutPrefix(key, prefix)
	number, _, _ := strings.Cut(name, "-")
	version, err := strconv.ParseInt(number, 10, 64)
	return version, ours && err == nil
}

// OfTier are the files of a tier: one, or none.
func OfTier(files []tablefile.Named, tier string) (of []tablefile.Named) {
	for _, f := range files {
		if strings.HasSuffix(f.Key, "-"+tier+suffix) {
			of = append(of, f)
		}
	}
	return of
}

// Open opens files of a manifest.
func Open(ctx context.Context, from tablefile.Objects, named []tablefile.Named) (files []*tablefile.File, err error) {
	for _, one := range named {
		f, err := tablefile.OpenObject(ctx, from, one)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", one.Key, err)
		}
		files = append(files, f)
	}
	return files, nil
}
