package witness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"quotary/shared/catalog"
)

// Config says what a gateway serves, and with what.
type Config struct {
	Command   string // cdk-local's program, cdkl
	Assembly  string // folder that CDK has synthesized for the environment dev
	Functions string // base address of the Lambda Invoke API that has the functions
	Folder    string // for what it writes
}

// Witness is a gateway that runs.
type Witness struct {
	BaseURL   string // of the REST API, ends with /api
	WSBaseURL string // of the WebSocket APIs, ends with /api

	cfg   Config
	plan  *Plan
	rest  string            // cdk-local's address of the REST API
	feeds map[string]string // and those of the WebSocket APIs, by path, to connect to
	http  *http.Client

	running context.Context               // ends the connections
	stops   []func(context.Context) error // undone in reverse
	tasks   sync.WaitGroup                // that serve connections

	mu          sync.Mutex
	passages    map[string]*passage    // by id: requests that are under way
	connections map[string]*connection // by id
	containers  map[string]*http.Server
	started     int // containers so far
}

// Start serves the APIs until Stop. The calling program is run again in place of
// docker, with [AsContainer] set: it must then call [Container].
func Start(ctx context.Context, cfg Config) (*Witness, error) {
	running, cancel := context.WithCancel(context.Background())
	w := &Witness{
		cfg: cfg, running: running, feeds: make(map[string]string),
		http:     &http.Client{Timeout: 35 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		passages: make(map[string]*passage), connections: make(map[string]*connection), containers: make(map[string]*http.Server),
	}
	w.stops = append(w.stops, func(context.Context) error {
		cancel()
		w.removeContainers() // which a cdk-local that was killed has left
		w.tasks.Wait()
		return nil
	})
	if err := w.start(ctx); err != nil {
		ending, done := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer done()
		return nil, errors.Join(err, w.Stop(ending))
	}
	return w, nil
}

// Stop ends every part, the last started first, and waits for it.
func (w *Witness) Stop(ctx context.Context) error {
	var faults []error
	for i := len(w.stops) - 1; i >= 0; i-- {
		faults = append(faults, w.stops[i](ctx))
	}
	w.stops = nil
	return errors.Join(faults...)
}

func (w *Witness) start(ctx context.Context) (err error) {
	assembly := filepath.Join(w.cfg.Folder, "assembly")
	if w.plan, err = Unroll(w.cfg.Assembly, assembly); err != nil {
		return err
	}
	docker, err := w.listen(w.docker())
	if err != nil {
		return err
	}
	serve := func(name string, apis ...string) ([]string, error) {
		p := program{command: w.cfg.Command, assembly: assembly, docker: "http://" + docker, log: filepath.Join(w.cfg.Folder, name+".log")}
		addresses, err := p.start(ctx, apis)
		if err != nil {
			return nil, fmt.Errorf("cdk-local for %s: %w", name, err)
		}
		w.stops = append(w.stops, p.stop)
		return addresses, nil
	}
	addresses, err := serve("rest", "quotary-dev-api/Api")
	if err != nil {
		return err
	}
	w.rest = addresses[0]
	for path, feed := range w.plan.Feeds {
		if addresses, err = serve(feed.ID, "quotary-dev-feeds/"+feed.ID); err != nil {
			return err
		}
		w.feeds[path] = addresses[0]
	}
	front, err := w.listen(http.HandlerFunc(w.serve))
	if err != nil {
		return err
	}
	w.BaseURL, w.WSBaseURL = "http://"+front+catalog.BasePath, "ws://"+front+catalog.BasePath
	return nil
}

// listen serves at a free loopback address until Stop.
func (w *Witness) listen(handler http.Handler) (address string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	w.tasks.Go(func() { _ = server.Serve(listener) }) // it ends when it is closed
	w.stops = append(w.stops, func(context.Context) error { return server.Close() })
	return listener.Addr().String(), nil
}
