// Package tools holds what checks the public document of the API, apart from the
// product, whose module needs none of it: the validation of openapi.json, and oasdiff,
// which finds breaking changes in it (make compatible).
package tools

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	_ "github.com/oapi-codegen/runtime" // generated clients are compiled with it (make test-generators)
)

// The document is OpenAPI 3.1, and every example in it fits its schema.
func TestThePublicDocumentIsValid(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile("../openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
	if n := document.Paths.Len(); n < 100 {
		t.Errorf("it has %d paths", n)
	}
}
