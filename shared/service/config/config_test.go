package config_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/service/config"
)

func env(values map[string]string) *config.Env {
	return &config.Env{Lookup: func(name string) (string, bool) { v, ok := values[name]; return v, ok }}
}

func TestEveryFaultIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	e := env(map[string]string{"B": "maybe", "N": "-1", "D": "soon", "EMPTY": ""})
	e.String("MISSING", "the table of keys")
	e.String("EMPTY", "the bucket of views")
	e.Bool("B", true, "whether nonces are checked")
	e.Int(&catalog.Setting{Name: "N", Default: "3", Purpose: "parallel writers", Check: func(string) error { return errors.New("must be at least 1") }})
	e.Duration(&catalog.Setting{Name: "D", Purpose: "linger"})
	err := e.Err()
	if err == nil {
		t.Fatal("no fault reported")
	}
	for _, want := range []string{"MISSING is not set: the table of keys", "EMPTY is not set", "B must be on or off", "N must be at least 1: parallel writers", `D cannot be read: time: invalid duration "soon": linger`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

func TestValuesAndFallbacks(t *testing.T) {
	t.Parallel()
	e := env(map[string]string{"S": "text", "B": "off", "N": "7", "D": "250ms"})
	if got := e.String("S", ""); got != "text" {
		t.Errorf("String = %q", got)
	}
	if e.Bool("B", true, "") || !e.Bool("NOT", true, "") {
		t.Error("Bool must read off and fall back to true")
	}
	if e.Int(&catalog.Setting{Name: "N", Default: "1"}) != 7 || e.Int(&catalog.Setting{Name: "NOT", Default: "1"}) != 1 || e.Int(&catalog.Setting{Name: "NOT"}) != 0 {
		t.Error("Int must read 7, and fall back to 1 and to nothing")
	}
	if e.Duration(&catalog.Setting{Name: "D"}) != 250*time.Millisecond || e.Duration(&catalog.Setting{Name: "NOT", Default: "1s"}) != time.Second {
		t.Error("Duration must read 250ms and fall back")
	}
	if e.Optional("S", "x") != "text" || e.Optional("NOT", "x") != "x" {
		t.Error("Optional must read text and fall back")
	}
	if err := e.Err(); err != nil {
		t.Errorf("Err = %v", err)
	}
}
