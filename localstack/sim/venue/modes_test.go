package venue

import "testing"

func TestAnAccountsModeIsABareString(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{Modes: true}, 0)
	seen := map[string]int{}
	for u := range v.eng.prof {
		seen[ask[string](t, v, `{"type":"userAbstraction","user":%q}`, v.eng.prof[u].Addr)]++
	}
	for _, name := range modeNames {
		if n := seen[name]; n == 0 || name == "dexAbstraction" && n != 1 {
			t.Errorf("%d accounts are %s", n, name)
		}
	}
	if got := ask[string](t, v, `{"type":"userAbstraction","user":%q}`, "0x00000000000000000000000000000000000000ff"); got != "default" {
		t.Errorf("a stranger is %s", got)
	}
}

func TestWithoutModesEveryAccountIsStandard(t *testing.T) {
	t.Parallel()
	v := busy(t, Config{}, 0)
	for u := range v.eng.prof {
		if got := ask[string](t, v, `{"type":"userAbstraction","user":%q}`, v.eng.prof[u].Addr); got != "default" {
			t.Fatalf("%s is %s", v.eng.prof[u].Addr, got)
		}
	}
}
