package market

import (
	"reflect"
	"testing"
)

// TestMergeForgetsNoField fills every field of a run and merges it into an empty
// one and into itself: a field that Merge or Len does not know fails.
func TestMergeForgetsNoField(t *testing.T) {
	t.Parallel()
	fields := reflect.TypeFor[Events]().NumField()
	full := func() *Events {
		e := new(Events)
		for i := range fields {
			switch f := reflect.ValueOf(e).Elem().Field(i); f.Kind() {
			case reflect.Slice:
				f.Set(reflect.MakeSlice(f.Type(), 2, 2))
			case reflect.Pointer:
				f.Set(reflect.New(f.Type().Elem()))
			default:
				t.Fatalf("%s: this test does not know how to fill a %s", reflect.TypeFor[Events]().Field(i).Name, f.Kind())
			}
		}
		return e
	}
	for name, have := range map[string]*Events{"empty": {}, "full": full()} {
		before := have.Len()
		have.Merge(full())
		have.Merge(nil)
		for i := range fields {
			f, want := reflect.ValueOf(have).Elem().Field(i), 2
			if name == "full" {
				want = 4
			}
			if f.Kind() == reflect.Pointer && f.IsNil() || f.Kind() == reflect.Slice && f.Len() != want {
				t.Errorf("into an %s run: %s is lost", name, reflect.TypeFor[Events]().Field(i).Name)
			}
		}
		if grown := have.Len() - before; name == "empty" && grown != full().Len() || full().Len() != 2*(fields-1)+1 {
			t.Errorf("into an %s run: Len grew by %d, of %d events", name, grown, full().Len())
		}
	}
}
