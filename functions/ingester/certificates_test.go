package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"quotary/shared/testing/must"
)

// The image holds no certificates: the program brings those of public authorities. The
// test runs itself again as on a system without any.
func TestPublicAuthoritiesAreTrustedWithoutCertificatesOfTheSystem(t *testing.T) {
	t.Parallel()
	const bare = "QUOTARY_TEST_WITHOUT_CERTIFICATES"
	if os.Getenv(bare) == "" {
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v") //nolint:gosec // itself
		again.Env = append(os.Environ(), bare+"=1", "SSL_CERT_FILE=none", "SSL_CERT_DIR=none")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	trusted := 0
	for root := range bundle.Roots() {
		certificate := must.Get(x509.ParseCertificate(root.Certificate))(t)
		if _, err := certificate.Verify(x509.VerifyOptions{CurrentTime: certificate.NotAfter, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err == nil {
			trusted++
		}
	}
	if trusted < 50 {
		t.Errorf("%d authorities are trusted", trusted)
	}
}
