package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quotary/shared/catalog"
	"quotary/shared/testing/must"
)

// Limits of a function's package and of its start.
const (
	maxZip  = 10 << 20
	maxInit = 60 * time.Millisecond
)

// BenchmarkColdStart starts each function's program again for one event, its
// sample in events/. It reports the medians of the times from the start of the
// process to its first request for an event (init-ms) and to its answer
// (first-ms), of its processor time (cpu-ms), and the size of what a deployment
// uploads, if make package has built it (zip-MB).
//
// A package above its limit fails. A start above its limit is only said, because
// a machine may be busy.
func BenchmarkColdStart(b *testing.B) {
	for _, name := range catalog.AllFunctions() {
		b.Run(name, func(b *testing.B) { coldStart(b, name) })
	}
}

func coldStart(b *testing.B, name string) {
	var inits, firsts, cpus []time.Duration
	for b.Loop() {
		s := start(b, name)
		inits, firsts, cpus = append(inits, s.ready), append(firsts, s.answered), append(cpus, s.cpu)
	}
	median := func(of []time.Duration) time.Duration {
		slices.Sort(of)
		return of[len(of)/2]
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(median(inits)), "init-ms")
	b.ReportMetric(ms(median(firsts)), "first-ms")
	b.ReportMetric(ms(median(cpus)), "cpu-ms")
	if median(inits) > maxInit {
		b.Logf("%s starts in %s, more than %s", name, median(inits), maxInit)
	}
	program, err := os.ReadFile(filepath.Join(root, "bin", "lambda", name, "bootstrap"))
	if err != nil {
		b.Logf("the size of the package is not known: %v", err)
		return
	}
	size := zipped(b, program)
	b.ReportMetric(float64(size)/(1<<20), "zip-MB")
	if size > maxZip {
		b.Errorf("the package of %s has %d bytes, more than %d", name, size, maxZip)
	}
}

// started is one start of a function, measured from the start of its process.
type started struct {
	ready    time.Duration // to the first request for an event
	answered time.Duration // to the answer
	cpu      time.Duration // that the process spent until it was ended
}

// start runs the program of a function on a Runtime API of its own until it has
// answered one event.
func start(b *testing.B, name string) (s started) {
	event := sampleEvent(b, name)
	var began time.Time
	ready, answered := make(chan time.Duration, 1), make(chan []byte, 1)
	api := http.NewServeMux()
	first := true // the program asks for one event after the other
	api.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, r *http.Request) {
		if !first {
			<-r.Context().Done()
			return
		}
		first = false
		ready <- time.Since(began)
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "1")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", "9999999999999")
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:123456789012:function:"+name)
		_, _ = w.Write(event)
	})
	api.HandleFunc("POST /2018-06-01/runtime/", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.WriteHeader(http.StatusAccepted)
		answered <- append([]byte(filepath.Base(r.URL.Path)+" "), body...)
	})
	api.HandleFunc("PUT /cloudformation", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(api)
	defer server.Close()
	event = bytes.ReplaceAll(event, []byte("https://cloudformation-"), []byte(server.URL+"/cloudformation?"))

	var said bytes.Buffer
	program := exec.CommandContext(b.Context(), filepath.Join(programs, catalog.ProgramFile(name)))
	program.Env = append(world.State.Environment(), "QUOTARY_SECRETS_KEY=key", "QUOTARY_DATA_KEYS_PARAMETER=parameter",
		"AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(server.URL, "http://"), "AWS_LAMBDA_FUNCTION_NAME="+name)
	program.Stdout, program.Stderr = &said, &said
	began = time.Now()
	must.Do(b, program.Start())
	fail := time.After(10 * time.Second)
	var answer []byte
	for answer == nil {
		select {
		case s.ready = <-ready:
		case answer = <-answered:
			s.answered = time.Since(began)
		case <-fail:
			_ = program.Process.Kill()
			_ = program.Wait()
			b.Fatalf("%s has not answered within 10 s: %s", name, said.String())
		}
	}
	_ = program.Process.Kill()
	_ = program.Wait() // it says that it was killed
	s.cpu = program.ProcessState.UserTime() + program.ProcessState.SystemTime()
	if !bytes.HasPrefix(answer, []byte("response ")) || bytes.Contains(answer, []byte(`"statusCode":500`)) {
		b.Fatalf("%s: %.300s", name, answer)
	}
	return s
}

// sampleEvent is the sample of a function with the demo keys, signed where a
// function checks that.
func sampleEvent(b *testing.B, name string) []byte {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(root, "events", name+".json"))
	if err != nil {
		b.Fatal(err)
	}
	demo := world.State.Demo
	text = []byte(strings.NewReplacer(
		"5b1f0c6e2d7a49838e4c1d2b3a4f5e60", demo.SubKey.AccessKey, "9a8b7c6d5e4f30211234567890abcdef", demo.Primary.AccessKey,
	).Replace(string(text)))
	switch name {
	case catalog.FunctionAuthorizer:
	case catalog.FunctionDataKey: // without what only KMS can make
		return bytes.Replace(text, []byte(`"Create"`), []byte(`"Update"`), 1)
	default:
		return text
	}
	var event map[string]any
	must.Do(b, json.Unmarshal(text, &event))
	query := demo.SubKey.Sign(time.Now(), rand.Text())
	single := make(map[string]string)
	for name := range query {
		single[name] = query.Get(name)
	}
	event["queryStringParameters"], event["multiValueQueryStringParameters"] = single, query
	if text, err = json.Marshal(event); err != nil {
		b.Fatal(err)
	}
	return text
}

// zipped returns the size of a program in an archive as the CDK makes it.
func zipped(b *testing.B, program []byte) int {
	b.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	file, err := w.Create("bootstrap")
	if err == nil {
		_, err = file.Write(program)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	return archive.Len()
}
