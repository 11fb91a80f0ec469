package catalog

// The distributor endpoints: registration, levels, sub-keys and their figures.
var (
	// Registers a distributor by an invite token and shows its primary key, secret included, once.
	Register = route[RegisterIn, Registered]("POST", "/upgrade/v2/distributor/register", Distributor, public, EnvelopeD)
	// Describes the calling distributor.
	GetInfo = route[None, DistributorInfo]("GET", "/upgrade/v2/distributor/info", Distributor, management, EnvelopeD)
	// Shows what the month's quota is, how much of it is allocated and how much is used.
	GetQuota = route[None, QuotaSummary]("GET", "/upgrade/v2/distributor/quota", Distributor, management, EnvelopeD)
	// Lists the names of the distributor's levels.
	ListLevels = route[None, []string]("GET", "/upgrade/v2/distributor/levels", Distributor, management, EnvelopeD)
	// Shows the limits and permissions of a level.
	GetLevel = route[LevelIn, Level]("GET", "/upgrade/v2/distributor/levels/{level}", Distributor, management, EnvelopeD)
	// Creates or replaces a level, of which a distributor may have 100.
	PutLevel = route[PutLevelIn, None]("PUT", "/upgrade/v2/distributor/levels/{level}", Distributor, management, EnvelopeD)
	// Deletes a level.
	DeleteLevel = route[LevelIn, None]("DELETE", "/upgrade/v2/distributor/levels/{level}", Distributor, management, EnvelopeD)
	// Creates a sub-key and shows its secret.
	CreateSubKey = route[CreateSubKeyIn, CreatedSubKey]("POST", "/upgrade/v2/distributor/sub-keys", Distributor, management, EnvelopeD)
	// Lists the sub-keys in pages, the newest first.
	ListSubKeys = route[ListSubKeysIn, SubKeyPage]("GET", "/upgrade/v2/distributor/sub-keys", Distributor, management, EnvelopeD)
	// Counts the sub-keys and what they used this month.
	SubKeyStats = route[None, SubKeyStatistics]("GET", "/upgrade/v2/distributor/sub-keys/stats", Distributor, management, EnvelopeD)
	// Exports all sub-keys as a JSON array or as CSV, up to 100,000 and 6 MB: beyond 30,000
	// or so accept gzip.
	ExportKeys = route[ExportIn, Export]("GET", "/upgrade/v2/distributor/sub-keys/export", Distributor, management, EnvelopeD)
	// Shows a sub-key in full, without its secret.
	GetSubKey = route[SubKeyIn, SubKeyDetail]("GET", "/upgrade/v2/distributor/sub-keys/{access_key}", Distributor, management, EnvelopeD)
	// Changes what is given of a sub-key.
	UpdateSubKey = route[UpdateSubKeyIn, None]("PUT", "/upgrade/v2/distributor/sub-keys/{access_key}", Distributor, management, EnvelopeD)
	// Deletes a sub-key.
	DeleteSubKey = route[SubKeyIn, None]("DELETE", "/upgrade/v2/distributor/sub-keys/{access_key}", Distributor, management, EnvelopeD)
	// Enables a sub-key.
	EnableKey = route[SubKeyIn, None]("POST", "/upgrade/v2/distributor/sub-keys/{access_key}/enable", Distributor, management, EnvelopeD)
	// Disables a sub-key.
	DisableKey = route[SubKeyIn, None]("POST", "/upgrade/v2/distributor/sub-keys/{access_key}/disable", Distributor, management, EnvelopeD)
	// Replaces the secret of a sub-key and shows the new one.
	ResetSecret = route[SubKeyIn, NewSecret]("POST", "/upgrade/v2/distributor/sub-keys/{access_key}/reset-secret", Distributor, management, EnvelopeD)
	// Enables several sub-keys, all or none.
	BatchEnable = route[BatchKeysIn, None]("POST", "/upgrade/v2/distributor/sub-keys/batch-enable", Distributor, management, EnvelopeD)
	// Disables several sub-keys, all or none.
	BatchDisable = route[BatchKeysIn, None]("POST", "/upgrade/v2/distributor/sub-keys/batch-disable", Distributor, management, EnvelopeD)
)

var _ = does(Distributor, keepKeys, deleteKeys, readUsage)

// None is the request without parameters and the response without data.
type None struct{}

// RegisterIn has the invite token, which is used up by it.
type RegisterIn struct {
	InviteToken string `body:"invite_token" required:"true" maxlen:"200"`
}

// Registered is the primary key of a new distributor. No other answer ever shows its
// secret.
type Registered struct {
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
	Name      string `json:"name"`
	Level     string `json:"level"`
}

// DistributorInfo describes the calling distributor.
type DistributorInfo struct {
	AccessKey     string `json:"access_key"`
	Name          string `json:"name"`
	Level         string `json:"level"`
	MaxSubKeys    int64  `json:"max_sub_keys"`
	SubKeyCount   int64  `json:"sub_key_count"`
	MaxTotalQuota int64  `json:"max_total_quota"` // requests that all its sub-keys may make together in a calendar month, UTC, 0 for unlimited
}

// QuotaSummary is how the quota of the calendar month, UTC, stands, in requests.
type QuotaSummary struct {
	MaxTotalQuota  int64 `json:"max_total_quota"`
	AllocatedQuota int64 `json:"allocated_quota"` // sum of the monthly quotas of all existing sub-keys
	AvailableQuota int64 `json:"available_quota"` // max_total_quota - allocated_quota; negative where more is allocated
	UsedQuota      int64 `json:"used_quota"`
	RemainingQuota int64 `json:"remaining_quota"` // max_total_quota - used_quota, at least 0
}

// LevelIn names a level.
type LevelIn struct {
	Level string `path:"level"`
}

// Level is a set of permissions and limits that sub-keys share.
type Level struct {
	RequestLimits RequestLimits `json:"request_limits"`
	Permissions   []Permission  `json:"permissions"`
}

// RequestLimits are the limits of a level, 0 for none.
type RequestLimits struct {
	MaxTimeRange     Int `json:"max_time_range"`     // longest span of one request in seconds
	MaxRequest       Int `json:"max_request"`        // requests per calendar month
	RequestRateLimit Int `json:"request_rate_limit"` // requests per minute
}

// Permission lists the permitted actions of one type of resource.
type Permission struct {
	ResourceType string   `json:"resource_type"` // type of resource, always perpdex
	Actions      []string `json:"actions"`
}

// PutLevelIn creates or replaces a level. One of its two parts at least is required; the
// other takes its defaults where it is absent.
type PutLevelIn struct {
	Level         string         `path:"level"`
	RequestLimits *RequestLimits `body:"request_limits"`
	Permissions   []Permission   `body:"permissions" max:"100"`
}

// CreateSubKeyIn says what the new sub-key may do.
type CreateSubKeyIn struct {
	Name         string `body:"name" required:"true"`
	Level        string `body:"level"`                               // name of a level; empty for the distributor's own
	MonthlyQuota *int64 `body:"monthly_quota" min:"1"`               // requests that it may make in a calendar month, UTC; absent for what is available of the distributor's quota (400 where nothing is), or 1,000 where that is unlimited
	RateLimit    int64  `body:"rate_limit" min:"0"`                  // requests per minute; 0 for the level's limit
	MaxTimeRange int64  `body:"max_time_range" min:"0"`              // longest span of one request in seconds; 0 for the level's limit
	WSConnLimit  int64  `body:"ws_conn_limit" min:"0"`               // WebSocket connections at one time, 0 for unlimited
	WSSubLimit   int64  `body:"ws_sub_limit" min:"0"`                // WebSocket subscriptions at one time, 0 for unlimited
	ExpiresIn    int64  `body:"expires_in" min:"0" max:"3153600000"` // seconds from now until it expires, 0 for never
	Metadata     string `body:"metadata"`                            // JSON text to store with it, 4 KiB at most
}

// CreatedSubKey is a new sub-key. Its secret is shown this once; a reset makes another
// one.
type CreatedSubKey struct {
	AccessKey string  `json:"access_key"`
	SecretKey string  `json:"secret_key"`
	Name      string  `json:"name"`
	Level     string  `json:"level"`
	CreatedAt string  `json:"created_at"` // when it was created: RFC 3339, UTC
	ExpiresAt *string `json:"expires_at"` // when it expires: RFC 3339, UTC; null for never
}

// ListSubKeysIn selects a page of the sub-keys, the newest first.
type ListSubKeysIn struct {
	Page     int64  `query:"page" default:"1" min:"1" max:"1000000"`
	PageSize int64  `query:"page_size" default:"20" min:"1" max:"100"` // rows of a page, 100 at most
	Status   *int64 `query:"status" min:"0" max:"1"`                   // only enabled ones (1) or disabled ones (0); absent for both
	Keyword  string `query:"keyword" maxlen:"64"`                      // part of the name in any case, or the start of the access key
}

// SubKey is a sub-key without its secret.
type SubKey struct {
	AccessKey        string  `json:"access_key"`
	Name             string  `json:"name"`
	Level            string  `json:"level"`
	Status           int64   `json:"status"` // 1 enabled, 0 disabled
	MonthlyQuota     int64   `json:"monthly_quota"`
	UsedMonthlyQuota int64   `json:"used_monthly_quota"`
	RateLimit        int64   `json:"rate_limit"`     // requests per minute; 0 for the level's limit
	MaxTimeRange     int64   `json:"max_time_range"` // longest span of one request in seconds; 0 for the level's limit
	WSConnLimit      int64   `json:"ws_conn_limit"`
	WSSubLimit       int64   `json:"ws_sub_limit"`
	CreatedAt        string  `json:"created_at"` // when it was created: RFC 3339, UTC
	ExpiresAt        *string `json:"expires_at"`
}

// SubKeyPage is one page of sub-keys, the newest first.
type SubKeyPage struct {
	List     []SubKey `json:"list"`
	Total    int64    `json:"total"`
	Page     int64    `json:"page"`
	PageSize int64    `json:"page_size"`
}

// SubKeyIn names a sub-key.
type SubKeyIn struct {
	AccessKey string `path:"access_key"`
}

// SubKeyDetail is a sub-key with what its owner stored with it.
type SubKeyDetail struct {
	SubKey
	Metadata  string `json:"metadata"`
	UpdatedAt string `json:"updated_at"` // when it was changed last: RFC 3339, UTC
}

// UpdateSubKeyIn changes the members of a sub-key that are given.
type UpdateSubKeyIn struct {
	AccessKey    string  `path:"access_key"`
	Name         *string `body:"name"`
	Status       *int64  `body:"status" min:"0" max:"1"`
	MonthlyQuota *int64  `body:"monthly_quota" min:"1"`
	RateLimit    *int64  `body:"rate_limit" min:"0"`     // requests per minute; 0 for the level's limit
	MaxTimeRange *int64  `body:"max_time_range" min:"0"` // longest span of one request in seconds; 0 for the level's limit
	WSConnLimit  *int64  `body:"ws_conn_limit" min:"0"`
	WSSubLimit   *int64  `body:"ws_sub_limit" min:"0"`
	ExpiresIn    *int64  `body:"expires_in" min:"0" max:"3153600000"` // seconds from now until it expires, 0 for never
	Metadata     *string `body:"metadata"`
}

// NewSecret is the new secret of a sub-key. The old one is no longer valid.
type NewSecret struct {
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
}

// SubKeyStatistics counts the existing sub-keys, and the requests of this calendar month,
// UTC.
type SubKeyStatistics struct {
	TotalSubKeys    int64 `json:"total_sub_keys"`
	ActiveSubKeys   int64 `json:"active_sub_keys"`
	DisabledSubKeys int64 `json:"disabled_sub_keys"`
	TotalQuota      int64 `json:"total_quota"`     // sum of the monthly quotas of existing sub-keys
	UsedQuota       int64 `json:"used_quota"`      // requests of all sub-keys counted in this calendar month, UTC, deleted ones included
	RemainingQuota  int64 `json:"remaining_quota"` // total_quota - used_quota, at least 0
}

// BatchKeysIn names sub-keys: all of them change or, where one is not known, none.
type BatchKeysIn struct {
	AccessKeys []string `body:"access_keys" required:"true" min:"1" max:"100"`
}

// ExportIn selects sub-keys. They are exported oldest first, at most 8,000 of them: where there
// are more, the header X-Next-Cursor has the cursor of the others.
type ExportIn struct {
	Keyword string `query:"keyword" maxlen:"64"`
	Cursor  Cursor `query:"cursor"`
	Format  string `query:"format" default:"json" enum:"json|csv"`
}

// Export is all of the response body: a bare JSON array, oldest first, or the same as
// CSV with a line of names.
type Export []ExportRow

// Bare marks a response without envelope.
func (Export) Bare() {}

// ExportRow is a sub-key in the export.
type ExportRow struct {
	AccessKey        string `json:"access_key"`
	Name             string `json:"name"`
	Status           int64  `json:"status"`
	MonthlyQuota     int64  `json:"monthly_quota"`
	UsedMonthlyQuota int64  `json:"used_monthly_quota"`
	CreatedAt        string `json:"created_at"`
}
