package catalog

import (
	"reflect"
	"slices"
	"strings"
)

// Parameter is a field of a request struct as its tags describe it.
type Parameter struct {
	Field    reflect.StructField
	In       string   // path, query or body
	Names    []string // under which it is accepted; the first is the documented one
	Required bool
	Default  string // text of what stands for an absent one, "" = nothing
}

// Parameters returns the parameters of a request struct, in the order of its
// fields. It is the one reader of the tags that name them.
func Parameters(in reflect.Type) []Parameter {
	if in == nil {
		return nil
	}
	list := make([]Parameter, 0, in.NumField())
	for i := range in.NumField() {
		field := in.Field(i)
		p := Parameter{Field: field, Default: field.Tag.Get("default")}
		for _, place := range []string{"path", "query", "body"} {
			if names := field.Tag.Get(place); names != "" {
				p.In, p.Names = place, strings.Split(names, ",")
			}
		}
		p.Required = p.In == "path" || field.Tag.Get("required") == "true"
		if spelled, ok := reflect.Zero(scalarOf(field.Type)).Interface().(interface{ Spellings() []string }); ok && p.In != "path" {
			for _, name := range spelled.Spellings() {
				if !slices.Contains(p.Names, name) {
					p.Names = append(p.Names, name)
				}
			}
		}
		list = append(list, p)
	}
	return list
}

// scalarOf is what a pointer points to.
func scalarOf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// Narrows reports whether less is asked for by a parameter of this name: fewer accounts, a
// shorter time, a part of a list.
func Narrows(name string) bool {
	switch name {
	case "addresses", "startTime", "endTime", "start_time", "end_time", "endTimeFrom", "endTimeTo", "period", "days", "limit", "size", "page", "pageNum", "pageSize", "page_size":
		return true
	}
	return false
}
