package service

import (
	"strings"
	"testing"
)

func TestAProgramThatTheCatalogDoesNotDeclareDoesNotStart(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("error = %v", err)
	}
}
