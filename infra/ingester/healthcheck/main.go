// The healthcheck program asks one address and succeeds when the answer is
// 200. The image of the ingester has no shell that could.
package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: healthcheck URL")
		os.Exit(2)
	}
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(url string) error {
	client := http.Client{Timeout: 4 * time.Second}
	res, err := client.Get(url) //nolint:gosec // the image's own definition names the address
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return nil
}
