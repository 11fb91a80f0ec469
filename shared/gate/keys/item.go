package keys

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"quotary/shared/aws/attr"
)

// item is an item of the table, or its key.
type item = attr.Item

// The keys of the table are made here and nowhere else.
const (
	invitesPartition      = "invites"
	distributorsPartition = "distributors"

	keyPrefix         = "k#"
	keySort           = "k"
	metaSort          = "meta"
	distributorPrefix = "d#"
	distributorSort   = "d"
	levelPrefix       = "level#"
	headPrefix        = "h#"
	headSort          = "h"
)

// headCopies is how many copies there are of a distributor's head. It is part of the
// stored data: a change would have to write the copies that are missing.
const headCopies = 8

func key(pk, sk string) item { return item{"pk": attr.S(pk), "sk": attr.S(sk)} }

func distributorKey(distributor string) item {
	return key(distributorPrefix+distributor, distributorSort)
}

func levelKey(distributor, name string) item {
	return key(distributorPrefix+distributor, levelPrefix+name)
}

func headKey(distributor string, i int) item {
	return key(headPrefix+distributor+"#"+strconv.Itoa(i), headSort)
}

// anyHead is the key of one of the copies of a head, each as likely as another.
func anyHead(distributor string) item { return headKey(distributor, rand.IntN(headCopies)) }

func keyKey(accessKey string) item { return key(keyPrefix+accessKey, keySort) }

func metaKey(accessKey string) item { return key(keyPrefix+accessKey, metaSort) }

func rowsPartition(distributor string) string { return "l#" + distributor }

// rowKey is the key of a sub-key's row in the list of its distributor. Sort keys grow
// with age, so that the newest is the first.
func rowKey(distributor, accessKey string, created time.Time) item {
	return key(rowsPartition(distributor), fmt.Sprintf("%012x#%s", lastMillis-created.UnixMilli(), accessKey))
}

// rowsBefore is behind the sort keys of all that was created at a time or later, and before
// those of what was created earlier.
func rowsBefore(created time.Time) string {
	return fmt.Sprintf("%012x$", lastMillis-created.UnixMilli()) // $ comes after #
}

// lastMillis is after every moment of creation.
const lastMillis = 1<<48 - 1

// ofRow reads the sort key of a row.
func ofRow(sort string) (accessKey string, created time.Time, err error) {
	age, accessKey, _ := strings.Cut(sort, "#")
	n, err := strconv.ParseInt(age, 16, 64)
	return accessKey, time.UnixMilli(lastMillis - n).UTC(), err
}

func inviteKey(id string) item { return key("invite#"+id, "invite") }

// with returns the first item with the attributes of the others.
func with(base item, more ...item) item {
	for _, m := range more {
		maps.Copy(base, m)
	}
	return base
}

// attributes of a sealed secret.
func (s sealed) attributes() item {
	return item{"secret": attr.B(s.box), "data_key": attr.S(s.dataKey)}
}

// fields reads an item; see [attr.Reader].
type fields struct{ attr.Reader }

func fieldsOf(it item) fields { return fields{attr.Reader{Item: it}} }

// millis reads a time that is stored as milliseconds since 1970.
func (f *fields) millis(name string) time.Time {
	if n := f.Int(name); n != 0 {
		return time.UnixMilli(n).UTC()
	}
	return time.Time{}
}

func (f *fields) sealed() sealed {
	box := f.Bytes("secret")
	if box == nil {
		f.Fail("secret")
	}
	return sealed{f.Text("data_key"), box}
}

// json reads a text that holds JSON, where there is one.
func (f *fields) json(name string, into any) {
	if text := f.Text(name); text != "" {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			f.Fail(name)
		}
	}
}
