package main

import (
	"net/url"
	"testing"

	"quotary/localstack/client"
	"quotary/shared/testing/must"
)

func TestAPathIsSignedWithOrWithoutItsFirstSlash(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v2/coin/ticker?coin_list=bitcoin", "v2/coin/ticker?coin_list=bitcoin"} {
		address := must.Get(signed("http://127.0.0.1:8080/api", path, client.Key{AccessKey: "a", SecretKey: "s"}))(t)
		u := must.Get(url.Parse(address))(t)
		if u.Path != "/api/v2/coin/ticker" || u.Query().Get("coin_list") != "bitcoin" || u.Query().Get("Signature") == "" {
			t.Errorf("%s is signed as %s", path, address)
		}
	}
}
