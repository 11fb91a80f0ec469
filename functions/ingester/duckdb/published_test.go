//go:build cgo

package duckdb_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"quotary/functions/ingester/gluetables"
	"quotary/functions/ingester/publication"
	"quotary/shared/data/traders"
	"quotary/shared/market"
	"quotary/shared/store"
	"quotary/shared/store/storetest"
	"quotary/shared/table"
	"quotary/shared/table/tablefile"
	"quotary/shared/testing/must"
	"quotary/shared/traderfields"
)

// mirror is a bucket of which a folder has the same, for an engine that reads no bucket here: what
// lists objects lists files there.
type mirror struct {
	*s3.Client
	bucket, folder string
	after          func() // each change
}

// PutObject writes an object, and the file.
func (m *mirror) PutObject(ctx context.Context, in *s3.PutObjectInput, options ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	in.Body = bytes.NewReader(body)
	out, err := m.Client.PutObject(ctx, in, options...)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(m.folder, *in.Key)
	if *in.Key == traders.ListKey {
		body = []byte(m.local(string(body)))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, body, 0o600); err != nil {
		return nil, err
	}
	m.after()
	return out, nil
}

// DeleteObject removes an object, and the file.
func (m *mirror) DeleteObject(ctx context.Context, in *s3.DeleteObjectInput, options ...func(*s3.Options)) (*s3.DeleteObjectOutput, error) {
	out, err := m.Client.DeleteObject(ctx, in, options...)
	if err == nil {
		err = os.Remove(filepath.Join(m.folder, *in.Key))
	}
	m.after()
	return out, err
}

// local is a text that names files where it named objects.
func (m *mirror) local(text string) string {
	return strings.ReplaceAll(text, "s3://"+m.bucket+"/", m.folder+"/")
}

// trades are how many positions a trader closed, and what they came to.
type trades struct{ count, wins, won int64 }

// population is who trades, and which of them are hot.
type population map[table.Address]trades

// part is what a file of some of them is made of.
func (p population) part(take func(table.Address) bool) *tablefile.Part {
	var list []traders.Trader
	for _, a := range slices.SortedFunc(maps.Keys(p), func(a, b table.Address) int { return slices.Compare(a[:], b[:]) }) {
		if !take(a) {
			continue
		}
		of := p[a]
		did := market.Window{Did: market.Facts{Closed: market.PositionFacts{Long: market.PositionSum{Count: of.count, Wins: of.wins, Losses: of.count - of.wins, Won: market.DecimalFromInt(of.won)}}}}
		list = append(list, traders.Trader{Address: a, Trader: traderfields.Trader{Did: map[traderfields.Period]*market.Window{traderfields.Month: &did}}})
	}
	return traders.Part(list)
}

// best answers the guide's question.
func (p population) best() (rows []string) {
	best := slices.SortedFunc(maps.Keys(p), func(a, b table.Address) int {
		if p[a].won != p[b].won {
			return int(p[b].won - p[a].won)
		}
		return slices.Compare(a[:], b[:])
	})
	for _, a := range best {
		if of := p[a]; of.count >= 20 && len(rows) < 10 {
			rows = append(rows, fmt.Sprintf("0x%x %d.000000 %s", a, of.won, fixed((200e6*of.wins+of.count)/(2*of.count), 6)))
		}
	}
	return rows
}

// asked are the questions of the guide, as statements.
func asked(t *testing.T) map[string][]string {
	t.Helper()
	guide := must.Get(os.ReadFile("../../../docs/operate/queries.md"))(t)
	blocks := map[string][]string{}
	for _, block := range regexp.MustCompile("(?s)<!-- test: ([a-z]+) -->\n```sql\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		for _, statement := range strings.SplitAfter(block[2], ";\n") {
			if statement != "" {
				blocks[block[1]] = append(blocks[block[1]], strings.TrimSuffix(statement, ";\n"))
			}
		}
	}
	if len(blocks["duckdb"]) != 2 || len(blocks["athena"]) != 1 {
		t.Fatalf("the guide has the questions %v", blocks)
	}
	return blocks
}

// counted asks the questions of the guide, that for Athena with the text of its view, and how many rows
// and traders there are.
func counted(t *testing.T, db *sql.DB, m *mirror, questions map[string][]string) (best []string, counts string) {
	t.Helper()
	must.Get(db.ExecContext(t.Context(), m.local(strings.ReplaceAll(questions["duckdb"][0], "<views bucket>", m.bucket))))(t)
	const texts = "SELECT trader, totalPnl30d::VARCHAR, winRate30d::VARCHAR FROM (%s)"
	best = rowsOf(t, db, texts, questions["duckdb"][1])
	rows := must.Get(gluetables.TraderRows())(t)
	view := gluetables.NewestTraders("quotary_prod", &rows)
	for _, statement := range []string{
		"CREATE SCHEMA IF NOT EXISTS quotary_prod",
		"CREATE OR REPLACE VIEW quotary_prod." + rows.Name + " AS SELECT * FROM read_parquet(getvariable('files'))",
		"CREATE OR REPLACE VIEW quotary_prod." + view.Name + " AS " + view.SQL,
	} {
		must.Get(db.ExecContext(t.Context(), statement))(t)
	}
	if diff := cmp.Diff(best, rowsOf(t, db, texts, questions["athena"][0])); diff != "" {
		t.Errorf("Athena's question is answered otherwise than DuckDB's: %s", diff)
	}
	return best, rowsOf(t, db, "SELECT count(*)::VARCHAR, count(DISTINCT address)::VARCHAR FROM quotary_prod.traders")[0]
}

// hiveTypes replaces types of DuckDB by those of Hive.
var hiveTypes = strings.NewReplacer("VARCHAR[]", "array<string>", "VARCHAR", "string", "BLOB", "binary", "BIGINT", "bigint", "DECIMAL", "decimal", "TIMESTAMP WITH TIME ZONE", "timestamp")

func TestTheQuestionsOfTheGuideCountEachTraderOnceAtAnyTimeOfAPublication(t *testing.T) {
	client, bucket := storetest.S3(t)
	m := &mirror{Client: client, bucket: bucket, folder: t.TempDir(), after: func() {}}
	now := time.UnixMilli(1_760_000_000_000)
	store := &publication.Bucket{
		Bucket: tablefile.Bucket{Client: m, Name: bucket}, Objects: m, Views: store.NewViews(m, bucket), Newest: traders.Newest, ListKey: traders.ListKey,
	}
	publisher := publication.Publisher{Columns: traders.Columns(), Prefix: traders.Prefix, Store: store, Keep: time.Hour, Now: func() time.Time { return now }}
	db, questions := open(t), asked(t)
	db.SetMaxOpenConns(1) // variables are a connection's

	// From version to version some are hot that were not, some trade more, and some come. Every third
	// version has the cold tier made anew, the others have an overlay.
	before, wasHot := population{}, map[table.Address]bool{}
	overlays := 0
	for n := range 6 {
		next, hot, left := maps.Clone(before), map[table.Address]bool{}, map[table.Address]bool{}
		for i := range 300 + 20*n {
			var a table.Address
			binary.BigEndian.PutUint64(a[6:], uint64(i)*0x9e3779b97f4a7c15) //nolint:gosec // it is no number
			of, known := next[a]
			if hot[a] = (i+n)%7 == 0; hot[a] || !known || i%11 == n {
				of.count, of.wins, of.won = of.count+int64(i%30), of.wins+int64(i%30/2), of.won+int64(i*37%1000)
				next[a] = of
				left[a] = !hot[a]
			}
			left[a] = left[a] || wasHot[a] && !hot[a]
		}
		changes := 0
		m.after = func() {
			changes++
			if _, err := os.Stat(filepath.Join(m.folder, traders.ListKey)); err != nil {
				return // nothing is published yet
			}
			want := before
			if list := string(must.Get(os.ReadFile(filepath.Join(m.folder, traders.ListKey)))(t)); strings.Contains(list, fmt.Sprint(now.UnixMilli())) {
				want = next
			}
			best, counts := counted(t, db, m, questions)
			if once := fmt.Sprint(len(want), " ", len(want)); counts != once {
				t.Fatalf("version %d, after change %d: rows and traders are %s, want %s", n, changes, counts, once)
			}
			if diff := cmp.Diff(want.best(), best); diff != "" {
				t.Fatalf("version %d, after change %d: %s", n, changes, diff)
			}
		}
		version := must.Get(publisher.Publish(t.Context(), publication.Change{
			Hot: next.part(func(a table.Address) bool { return hot[a] }), Left: next.part(func(a table.Address) bool { return left[a] }), Cold: n%3 == 0,
		}))(t)
		overlays += len(publication.OfTier(version.Files, publication.Overlay))
		if changes < 3 {
			t.Fatalf("%d changes were seen", changes)
		}
		m.after()
		before, wasHot = next, hot
		now = now.Add(40 * time.Minute)
	}
	table, read := must.Get(gluetables.TraderRows())(t), []gluetables.Column(nil)
	for _, column := range rowsOf(t, db, "SELECT lower(column_name) || '=' || column_type FROM (DESCRIBE quotary_prod.trader_rows)") {
		name, of, _ := strings.Cut(column, "=")
		read = append(read, gluetables.Column{Name: name, Type: hiveTypes.Replace(of)})
	}
	if diff := cmp.Diff(table.Columns, read); diff != "" {
		t.Errorf("the files have other columns than the table of Glue: %s", diff)
	}
	if overlays != 4 {
		t.Errorf("%d versions had an overlay", overlays)
	}
}
