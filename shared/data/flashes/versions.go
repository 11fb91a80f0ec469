package flashes

import (
	"context"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"quotary/shared/data/internal/dataset"
	"quotary/shared/store"
)

// version is the key of the versions of a flash in a language.
func version(id int64, language string) string {
	return "version " + language + " " + strconv.FormatInt(id, 10)
}

// hides reports whether a list shows this version of a flash in place of the flash: one that
// the selection leaves out replaces nothing. A page may begin behind it.
func (s *Selection) hides(version *Flash) bool {
	list := *s
	list.Behind = nil
	return version.VersionOf != 0 && version.Language == s.Without && list.keeps(version)
}

// versions are the flashes in whose place the view holds a version.
func (v View) versions(s *Selection) map[int64]bool {
	of := map[int64]bool{}
	for i := range v.Flashes {
		if f := &v.Flashes[i]; s.hides(f) {
			of[f.VersionOf] = true
		}
	}
	return of
}

// withoutVersion leaves out the flashes in whose place a stored version is shown.
func withoutVersion(ctx context.Context, l *store.Log, list []Flash, s *Selection) ([]Flash, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	has := make([]bool, len(list))
	for i := range list {
		group.Go(func() (err error) {
			has[i], err = hasVersion(ctx, l, list[i].ID, s)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var without []Flash
	for i := range list {
		if !has[i] {
			without = append(without, list[i])
		}
	}
	return without, nil
}

// hasVersion reports whether a version of a flash is stored whose newest state still is one.
func hasVersion(ctx context.Context, l *store.Log, id int64, s *Selection) (bool, error) {
	var known []int64
	for f, err := range log.Read(ctx, l, dataset.Query{Subject: version(id, s.Without), Index: store.B, Limit: maxStates, Expect: 1}) {
		if err != nil {
			return false, err
		}
		if slices.Contains(known, f.ID) {
			continue
		}
		known = append(known, f.ID)
		newest, ok, err := ByID(ctx, l, f.ID)
		if err != nil || ok && newest.VersionOf == id && s.hides(&newest) {
			return err == nil, err
		}
	}
	return false, nil
}
