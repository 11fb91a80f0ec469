package lenient_test

import (
	"testing"

	"quotary/shared/testing/check"
	"quotary/shared/testing/must"
	"quotary/shared/text/lenient"
)

type item struct {
	Name  string       `json:"name"`
	Size  int64        `json:"size"`
	Flag  *bool        `json:"flag"`
	Price lenient.Text `json:"price"`
	Parts []string     `json:"parts"`
}

func TestAValueOfAnotherTypeCostsItselfAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]item{
		`{"name":"a","size":1,"price":"1.50","parts":["x"]}`: {Name: "a", Size: 1, Price: "1.50", Parts: []string{"x"}},
		`{"name":5,"size":1,"price":1.50}`:                   {Size: 1, Price: "1.50"},
		`{"name":"a","size":"1","flag":"yes","price":[1]}`:   {Name: "a", Price: "[1]"},
		`{"parts":{"x":1},"price":null,"name":"a"}`:          {Name: "a"},
		`{"parts":["x",1,"y"],"price":true}`:                 {Parts: []string{"x", "", "y"}, Price: "true"},
		`{"name":null,"size":null,"price":-0.25,"other":{}}`: {Price: "-0.25"},
	} {
		var got item
		if err := lenient.Object([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		// What was of another type is the zero value, which a pointer may point to.
		if want.Flag == nil && got.Flag != nil && !*got.Flag {
			got.Flag = nil
		}
		check.Equalf(t, want, got, "%s", text)
	}
	var list []item
	must.Do(t, lenient.List([]byte(` [{"name":"a"},7,{"name":"b","size":"x"},null,"y"]`), &list))
	check.Equal(t, []item{{Name: "a"}, {}, {Name: "b"}, {}, {}}, list)
	prices := map[string]string{}
	if err := lenient.Object([]byte(`{"A":"1","B":2,"C":null}`), &prices); err != nil || prices["A"] != "1" || prices["B"] != "" || prices["C"] != "" {
		t.Errorf("%v, %v", prices, err)
	}
}

func TestWhatIsOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{``, ` `, `{`, `[]`, `null`, `7`, `"x"`, `{"name":"a"}x`} {
		if err := lenient.Object([]byte(text), new(item)); err == nil {
			t.Errorf("%q is an object", text)
		}
	}
	for _, text := range []string{``, `[`, `{}`, `null`, `7`, `[1]]`} {
		if err := lenient.List([]byte(text), new([]item)); err == nil {
			t.Errorf("%q is a list", text)
		}
	}
}
