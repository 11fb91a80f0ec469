package keys

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quotary/shared/attr"
	"quotary/shared/catalog"
)

// ResourceType is the only type of resource that a level can permit.
const ResourceType = "perpdex"

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
	items, err := s.query(ctx, partition(distributor), levelPrefix, only("sk"))
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

// PutLevel creates or replaces a level, in force on the next request.
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
	err = s.putItem(ctx, with(levelKey(distributor, name), item{
		"max_time_range": attr.N(level.MaxTimeRange), "max_request": attr.N(level.MaxRequest), "rate_limit": attr.N(level.RateLimit),
		"permissions": jsonText(permissions),
	}))
	if err != nil {
		return fmt.Errorf("put level: %w", err)
	}
	return nil
}

// DeleteLevel removes a level. Sub-keys that use it are refused everywhere
// until it exists again.
func (s *Store) DeleteLevel(ctx context.Context, distributor, name string) error {
	if err := checkLevelName(name); err != nil {
		return err
	}
	existed, err := s.deleteItem(ctx, levelKey(distributor, name))
	switch {
	case err != nil:
		return fmt.Errorf("delete level: %w", err)
	case !existed:
		return ErrUnknownLevel
	}
	return nil
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
			return nil, invalid("permissions.resource_type must be %q, not %s", ResourceType, quoteList([]string{p.ResourceType}))
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
		return nil, invalid("permissions.actions holds unknown actions: %s", quoteList(unknown))
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

// decodeLevel reads a level. The set of its actions is a pure function of
// their text, so it is remembered by that text and shared between requests.
func (s *Store) decodeLevel(it item) (*Level, error) {
	f := fieldsOf(it)
	level := &Level{MaxTimeRange: f.Int("max_time_range"), RateLimit: f.Int("rate_limit")}
	text := f.Text("permissions")
	var ok bool
	if level.permitted, ok = s.levels.get(text); !ok {
		var permissions []Permission
		f.json("permissions", &permissions)
		level.permitted = permitted{}
		for _, p := range permissions {
			for _, a := range p.Actions {
				if !slices.Contains(reserved, a) {
					level.permitted[a] = struct{}{}
				}
			}
		}
		if f.Err == nil {
			s.levels.set(text, level.permitted)
		}
	}
	return level, f.Err
}
