package management

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"quotary/functions/ingester/feeds/hub"
	"quotary/shared/testing/must"
)

const serveVariable = "QUOTARY_TEST_MANAGEMENT_API"

// TestMain is the management API of a benchmark when the benchmark started it.
func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == "" {
		os.Exit(m.Run())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("http://" + listener.Addr().String())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the benchmark
		os.Exit(0)
	}()
	_ = http.Serve(listener, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
}

// BenchmarkPost measures signed posts of frames of 1 KB to an API in a process of its
// own. What counts is the CPU time of this process: posts/s/core.
func BenchmarkPost(b *testing.B) {
	endpoint := apiProcess(b)
	config := aws.Config{Region: "eu-central-1", Credentials: aws.NewCredentialsCache(
		credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""))}
	conn := hub.Conn{ID: "L0SM9cOFvHcCIhw=", Endpoint: endpoint + "/prod"}
	frame := make([]byte, 1024)
	for name, post := range map[string]func(context.Context) error{
		"sdk": func() func(context.Context) error {
			c := New(config, func() bool { return true })
			return func(ctx context.Context) error { return c.Post(ctx, conn, frame) }
		}(),
		"net-http-and-signer": func() func(context.Context) error {
			signer := v4.NewSigner()
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}
			return func(ctx context.Context) error {
				key, err := config.Credentials.Retrieve(ctx)
				if err != nil {
					return err
				}
				r, err := http.NewRequestWithContext(ctx, "POST", endpoint+"/prod/@connections/L0SM9cOFvHcCIhw%3D", bytes.NewReader(frame))
				if err != nil {
					return err
				}
				sum := sha256.Sum256(frame)
				if err := signer.SignHTTP(ctx, key, r, hex.EncodeToString(sum[:]), "execute-api", config.Region, time.Now()); err != nil {
					return err
				}
				response, err := client.Do(r)
				if err != nil {
					return err
				}
				_, _ = io.Copy(io.Discard, response.Body)
				return response.Body.Close()
			}
		}(),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(16)
			b.ReportAllocs()
			began := cpuTime(b)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := post(b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/(cpuTime(b)-began).Seconds(), "posts/s/core")
		})
	}
}

// apiProcess starts the management API and returns its URL.
func apiProcess(b *testing.B) string {
	api := exec.Command(os.Args[0])
	api.Env = append(os.Environ(), serveVariable+"=1")
	api.Stderr = os.Stderr
	stdin := must.Get(api.StdinPipe())(b)
	stdout := must.Get(api.StdoutPipe())(b)
	must.Do(b, api.Start())
	b.Cleanup(func() {
		stdin.Close()
		_ = api.Wait()
	})
	var url string
	must.Get(fmt.Fscanln(stdout, &url))(b)
	return url
}

// cpuTime is what this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
