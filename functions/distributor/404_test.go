package main

import (
	"strings"
	"testing"
)

func TestSomeoneElsesSubKeyAnswersAsAnUnknownOne(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	b.create(object{})
	before := b.state()
	for _, c := range []struct {
		method, suffix string
		body           any
	}{
		{"GET", "", nil},
		{"PUT", "", object{"name": "mine"}},
		{"PUT", "", object{"monthly_quota": 3}},
		{"PUT", "", object{"metadata": "{}"}},
		{"DELETE", "", nil},
		{"POST", "/enable", nil},
		{"POST", "/disable", nil},
		{"POST", "/reset-secret", nil},
	} {
		unknown := b.call(c.method, "/sub-keys/"+strings.Repeat("0", 32)+c.suffix, c.body)
		unknown.Refused(t, 404, "access_key")
		for _, accessKey := range []string{
			b.SubKey.AccessKey, b.key.AccessKey, b.Primary.AccessKey, "x", "a%2Fb", "%23", strings.Repeat("z", 500),
		} {
			a := b.call(c.method, "/sub-keys/"+accessKey+c.suffix, c.body)
			if a.Status != unknown.Status || string(a.Body) != string(unknown.Body) {
				t.Errorf("%s %.40s%s: got %s, an unknown one gets %s", c.method, accessKey, c.suffix, a.Body, unknown.Body)
			}
		}
	}
	if b.state() != before {
		t.Error("something changed")
	}
	if _, _, err := b.Keys.SubKey(t.Context(), b.Primary.AccessKey, b.SubKey.AccessKey); err != nil {
		t.Errorf("the other distributor's sub-key: %v", err)
	}
}

func TestADeletedSubKeyIsUnknown(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	k := b.create(object{})
	b.ok("DELETE", "/sub-keys/"+k.AccessKey, nil)
	b.call("DELETE", "/sub-keys/"+k.AccessKey, nil).Refused(t, 404, "access_key")
	b.call("GET", "/sub-keys/"+k.AccessKey, nil).Golden(t, "404_sub_key")
}

func TestALevelThatIsNotConfiguredIsUnknown(t *testing.T) {
	t.Parallel()
	b := newWorld(t)
	// "all" is a level of another distributor.
	for _, name := range []string{"all", "none"} {
		b.call("GET", "/levels/"+name, nil).Refused(t, 404, "level")
		b.call("DELETE", "/levels/"+name, nil).Refused(t, 404, "level")
	}
}
