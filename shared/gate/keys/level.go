package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"quotary/shared/aws/attr"
	"quotary/shared/catalog"
)

// ResourceType is the only type of resource that a level can permit.
const ResourceType = "perpdex"

// maxLevels bounds the levels of a distributor, which are all read to list them.
const maxLevels = 100

// maxActions bounds the names that one level lists, repetitions included.
const maxActions = 1000

// reserved are names that a level may list without any effect: HL_INFO alone
// opens POST /info.
var reserved = []string{
	"HL_INFO_META", "HL_INFO_SPOT_META", "HL_INFO_CLEARINGHOUSE_STATE", "HL_INFO_SPOT_CLEARINGHOUSE_STATE",
	"HL_INFO_OPEN_ORDERS", "HL_INFO_FRONTEND_OPEN_ORDERS", "HL_INFO_USER_FEES", "HL_INFO_USER_FILLS",
	"HL_INFO_USER_FILLS_BY_TIME", "HL_INFO_CANDLE_SNAPSHOT", "HL_INFO_PERP_DEXS", "HL_INFO_ACTIVE_ASSET_DATA",
	"HL_INFO_WEB_DATA2", "HL_INFO_HISTORICAL_ORDERS", "HL_INFO_USER_TWAP_SLICE_FILLS", "HL_INFO_ORDER_STATUS",
	"HL_INFO_USER_FUNDING", "HL_INFO_USER_NON_FUNDING_LEDGER_UPDATES",
}

// Levels returns the names of a distributor's levels, sorted.
func (s *Store) Levels(ctx context.Context, distributor string) ([]string, error) {
	items, err := s.query(ctx, distributorPrefix+distributor, levelPrefix, only("sk"))
	if err != nil {
		return nil, fmt.Errorf("list levels: %w", err)
	}
	names := make([]string, 0, len(items))
	for _, it := range items {
		f := fieldsOf(it)
		names = append(names, strings.TrimPrefix(f.Text("sk"), levelPrefix))
	}
	return names, nil
}

// LevelSettings are a level as its distributor puts it. Limits of 0 are unset.
type LevelSettings struct {
	MaxTimeRange int64 // seconds
	MaxRequest   int64 // requests per calendar month
	RateLimit    int64 // requests per minute
	Permissions  []Permission
}

// Permission lists actions of one type of resource.
type Permission struct {
	ResourceType string   `json:"resource_type"` // ResourceType
	Actions      []string `json:"actions"`       // names of the catalog
}

// Allow returns a level that permits these actions and sets no limit.
func Allow(actions ...string) LevelSettings {
	return LevelSettings{Permissions: []Permission{{ResourceType: ResourceType, Actions: actions}}}
}

// Level reads a level as it was put.
func (s *Store) Level(ctx context.Context, distributor, name string) (LevelSettings, error) {
	if err := checkLevelName(name); err != nil {
		return LevelSettings{}, err
	}
	it, err := s.read(ctx, levelKey(distributor, name))
	if err != nil {
		return LevelSettings{}, fmt.Errorf("read level: %w", err)
	}
	if it == nil {
		return LevelSettings{}, ErrUnknownLevel
	}
	f := fieldsOf(it)
	level := LevelSettings{
		MaxTimeRange: f.Int("max_time_range"),
		MaxRequest:   f.Int("max_request"),
		RateLimit:    f.Int("rate_limit"),
		Permissions:  []Permission{},
	}
	f.json("permissions", &level.Permissions)
	return level, f.Err
}

// PutLevel creates or replaces a level, in force on the next request. A distributor that
// has as many as it may can replace one, or delete one first.
func (s *Store) PutLevel(ctx context.Context, distributor, name string, level LevelSettings) error {
	if err := checkLevelName(name); err != nil {
		return err
	}
	err := checkNumbers(
		number{"request_limits.max_time_range", &level.MaxTimeRange, 0, maxSeconds},
		number{"request_limits.max_request", &level.MaxRequest, 0, maxQuota},
		number{"request_limits.request_rate_limit", &level.RateLimit, 0, maxCount},
	)
	if err != nil {
		return err
	}
	permissions, err := checkPermissions(level.Permissions)
	if err != nil {
		return err
	}
	put := &types.Put{TableName: &s.table, Item: with(levelKey(distributor, name), item{
		"max_time_range": attr.N(level.MaxTimeRange), "max_request": attr.N(level.MaxRequest), "rate_limit": attr.N(level.RateLimit),
		"permissions": jsonText(permissions),
	})}
	err = s.retry(ctx, func() error { return s.tryPut(ctx, distributor, levelKey(distributor, name), put) })
	switch {
	case isInput(err):
		return err
	case err != nil:
		return fmt.Errorf("put level: %w", err)
	}
	return nil
}

// tryPut writes a level, and counts it where it is a new one.
func (s *Store) tryPut(ctx context.Context, distributor string, key item, put *types.Put) error {
	before, err := s.read(ctx, key)
	if err != nil {
		return err
	}
	if before != nil {
		put.ConditionExpression = aws.String("attribute_exists(pk)")
		return stale(s.raisePolicy(ctx, distributor, nil, types.TransactWriteItem{Put: put}))
	}
	n, err := s.levelCount(ctx, distributor)
	if err != nil {
		return err
	}
	if n >= maxLevels {
		return invalid("level must be one that exists, until one is deleted: this distributor may have %d levels and has %d", maxLevels, n)
	}
	put.ConditionExpression = aws.String("attribute_not_exists(pk)")
	count := change{}
	count.Add("level_count", 1)
	count.IfText("#level_count < "+count.value("most", attr.N(maxLevels)), "level_count")
	return stale(s.raisePolicy(ctx, distributor, nil,
		types.TransactWriteItem{Put: put}, types.TransactWriteItem{Update: count.update(s.table, distributorKey(distributor))}))
}

// DeleteLevel removes a level. Sub-keys that use it are refused everywhere
// until it exists again.
func (s *Store) DeleteLevel(ctx context.Context, distributor, name string) error {
	if err := checkLevelName(name); err != nil {
		return err
	}
	remove := &types.Delete{
		TableName: &s.table, Key: levelKey(distributor, name), ConditionExpression: aws.String("attribute_exists(pk)"),
	}
	count := change{}
	count.Add("level_count", -1)
	uncount := count.update(s.table, distributorKey(distributor))
	err := s.retry(ctx, func() error {
		switch before, err := s.read(ctx, levelKey(distributor, name)); {
		case err != nil:
			return err
		case before == nil: // as a transaction that fails costs as much as one that does not
			return ErrUnknownLevel
		}
		if _, err := s.levelCount(ctx, distributor); err != nil {
			return err
		}
		err := s.raisePolicy(ctx, distributor, nil, types.TransactWriteItem{Delete: remove}, types.TransactWriteItem{Update: uncount})
		var failed *unmetError
		if errors.As(err, &failed) {
			return ErrUnknownLevel
		}
		return err
	})
	switch {
	case isInput(err):
		return err
	case err != nil:
		return fmt.Errorf("delete level: %w", err)
	}
	return nil
}

// levelCount is how many levels a distributor has. One that is older than the count gets it
// here: no level of it comes or goes before, so what is listed holds when it is written.
func (s *Store) levelCount(ctx context.Context, distributor string) (int64, error) {
	it, err := s.read(ctx, distributorKey(distributor))
	switch {
	case err != nil:
		return 0, err
	case it == nil:
		return 0, ErrUnknown
	case it["level_count"] != nil:
		f := fieldsOf(it)
		return f.Int("level_count"), f.Err
	}
	names, err := s.Levels(ctx, distributor)
	if err != nil {
		return 0, err
	}
	n := int64(len(names))
	c := change{}
	c.Set("level_count", attr.N(n))
	c.IfText("attribute_not_exists(#level_count)", "level_count")
	done, err := s.update(ctx, c.update(s.table, distributorKey(distributor)))
	if err == nil && !done {
		return 0, errStale // another request has counted
	}
	return n, err
}

// checkPermissions returns what is stored of permissions: lists that are never
// nil, each action once per list.
func checkPermissions(permissions []Permission) ([]Permission, error) {
	known := append(catalog.Actions(), reserved...)
	out := make([]Permission, 0, len(permissions))
	var unknown []string
	total := 0
	for _, p := range permissions {
		if p.ResourceType != ResourceType {
			return nil, invalid("permissions.resource_type must be %q, not %s", ResourceType, quoteList([]string{p.ResourceType}, maxQuoted))
		}
		if total += len(p.Actions); total > maxActions {
			return nil, invalid("permissions.actions must list at most %d actions", maxActions)
		}
		actions := make([]string, 0, len(p.Actions))
		for _, a := range p.Actions {
			switch {
			case !slices.Contains(known, a):
				unknown = append(unknown, a)
			case !slices.Contains(actions, a):
				actions = append(actions, a)
			}
		}
		out = append(out, Permission{ResourceType: p.ResourceType, Actions: actions})
	}
	if len(unknown) > 0 {
		return nil, invalid("permissions.actions holds unknown actions: %s", quoteList(unknown, maxQuoted))
	}
	return out, nil
}

// Level is a level as a request needs it.
type Level struct {
	MaxTimeRange int64 // seconds, 0 = unset
	RateLimit    int64 // requests per minute, 0 = unset
	permitted    permitted
}

// NewLevel returns a level that opens these actions and sets no limit.
func NewLevel(actions ...string) *Level {
	l := &Level{permitted: permitted{}}
	for _, a := range actions {
		l.permitted[a] = struct{}{}
	}
	return l
}

// permitted is the set of actions that a level opens.
type permitted map[string]struct{}

// Permits reports whether the level lists the action.
func (l *Level) Permits(action string) bool {
	if l == nil {
		return false
	}
	_, ok := l.permitted[action]
	return ok
}

// Empty reports whether the level opens nothing at all.
func (l *Level) Empty() bool { return l == nil || len(l.permitted) == 0 }

// levelID names a level of all distributors.
type levelID struct{ distributor, name string }

// seenLevel is a level as it was read when the policy of its distributor was this or a
// later one.
type seenLevel struct {
	policy int64
	level  *Level // nil where there was none
}

// levelsUnder returns levels as they are under the policies, or later: those remembered
// that are as new, the others read in one request. One that does not exist is nil.
func (s *Store) levelsUnder(ctx context.Context, policies map[levelID]int64) (map[levelID]*Level, error) {
	out := make(map[levelID]*Level, len(policies))
	var keys []item
	for id, policy := range policies {
		if seen, ok := s.levels.Get(id); ok && seen.policy >= policy {
			out[id] = seen.level
			continue
		}
		out[id] = nil
		keys = append(keys, levelKey(id.distributor, id.name))
	}
	if len(keys) == 0 {
		return out, nil
	}
	read, err := s.readAll(ctx, keys, only("pk", "sk", "permissions", "max_time_range", "rate_limit"))
	if err != nil {
		return nil, fmt.Errorf("read levels: %w", err)
	}
	found := make(map[levelID]*Level, len(read))
	for _, it := range read {
		f := fieldsOf(it)
		id := levelID{strings.TrimPrefix(f.Text("pk"), distributorPrefix), strings.TrimPrefix(f.Text("sk"), levelPrefix)}
		if found[id] = f.level(); f.Err != nil {
			return nil, fmt.Errorf("read levels: %w", f.Err)
		}
	}
	for _, key := range keys {
		id := levelID{strings.TrimPrefix(attr.Text(key, "pk"), distributorPrefix), strings.TrimPrefix(attr.Text(key, "sk"), levelPrefix)}
		out[id] = found[id]
		s.levels.Set(id, seenLevel{policies[id], found[id]})
	}
	return out, nil
}

// levelUnder is levelsUnder of one level.
func (s *Store) levelUnder(ctx context.Context, distributor, name string, policy int64) (*Level, error) {
	id := levelID{distributor, name}
	if seen, ok := s.levels.Get(id); ok && seen.policy >= policy {
		return seen.level, nil
	}
	levels, err := s.levelsUnder(ctx, map[levelID]int64{id: policy})
	return levels[id], err
}

// level reads a level as requests need it.
func (f *fields) level() *Level {
	level := &Level{MaxTimeRange: f.Int("max_time_range"), RateLimit: f.Int("rate_limit"), permitted: permitted{}}
	var permissions []Permission
	f.json("permissions", &permissions)
	for _, p := range permissions {
		for _, a := range p.Actions {
			if !slices.Contains(reserved, a) {
				level.permitted[a] = struct{}{}
			}
		}
	}
	return level
}
