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
	// Creates or replaces a level.
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

// RegisterIn consumes an invite token.
type RegisterIn struct {
	InviteToken string `body:"invite_token" required:"true" maxlen:"200"`
}

// Registered is the only answer that ever shows a primary secret.
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
	MaxTotalQuota int64  `json:"max_total_quota"` // requests per calendar month in UTC, 0 = no cap
}

// QuotaSummary is the month so far, in requests.
type QuotaSummary struct {
	MaxTotalQuota  int64 `json:"max_total_quota"`
	AllocatedQuota int64 `json:"allocated_quota"` // sum of the monthly quotas of all sub-keys
	AvailableQuota int64 `json:"available_quota"` // max_total_quota - allocated_quota, may be negative
	UsedQuota      int64 `json:"used_quota"`
	RemainingQuota int64 `json:"remaining_quota"` // max(max_total_quota - used_quota, 0)
}

// LevelIn names a level.
type LevelIn struct {
	Level string `path:"level"`
}

// Level is a set of permissions and a template of limits.
type Level struct {
	RequestLimits RequestLimits `json:"request_limits"`
	Permissions   []Permission  `json:"permissions"`
}

// RequestLimits is the template of limits of a level; 0 means unset.
type RequestLimits struct {
	MaxTimeRange     Int `json:"max_time_range"`     // seconds
	MaxRequest       Int `json:"max_request"`        // requests per month
	RequestRateLimit Int `json:"request_rate_limit"` // requests per minute
}

// Permission lists actions of one type of resource.
type Permission struct {
	ResourceType string   `json:"resource_type"` // always perpdex
	Actions      []string `json:"actions"`
}

// PutLevelIn creates or replaces a level. Without both of its parts it is refused; a
// part that is absent takes its defaults.
type PutLevelIn struct {
	Level         string         `path:"level"`
	RequestLimits *RequestLimits `body:"request_limits"`
	Permissions   []Permission   `body:"permissions" max:"100"`
}

// CreateSubKeyIn makes a sub-key; absent fields follow the defaulting rules.
type CreateSubKeyIn struct {
	Name         string `body:"name" required:"true"`
	Level        string `body:"level"`                               // empty: the distributor's own level
	MonthlyQuota *int64 `body:"monthly_quota" min:"1"`               // requests per month
	RateLimit    int64  `body:"rate_limit" min:"0"`                  // requests per minute, 0 = the level's
	MaxTimeRange int64  `body:"max_time_range" min:"0"`              // seconds, 0 = the level's
	WSConnLimit  int64  `body:"ws_conn_limit" min:"0"`               // connections, 0 = unlimited
	WSSubLimit   int64  `body:"ws_sub_limit" min:"0"`                // subscriptions, 0 = unlimited
	ExpiresIn    int64  `body:"expires_in" min:"0" max:"3153600000"` // seconds from now, 0 = never
	Metadata     string `body:"metadata"`                            // JSON text
}

// CreatedSubKey shows the secret for the first time and the last but a reset.
type CreatedSubKey struct {
	AccessKey string  `json:"access_key"`
	SecretKey string  `json:"secret_key"`
	Name      string  `json:"name"`
	Level     string  `json:"level"`
	CreatedAt string  `json:"created_at"` // RFC 3339, UTC
	ExpiresAt *string `json:"expires_at"` // RFC 3339, UTC, or null
}

// ListSubKeysIn pages through the sub-keys.
type ListSubKeysIn struct {
	Page     int64  `query:"page" default:"1" min:"1" max:"1000000"`
	PageSize int64  `query:"page_size" default:"20" min:"1" max:"100"` // rows of a page, 100 at most
	Status   *int64 `query:"status" min:"0" max:"1"`
	Keyword  string `query:"keyword" maxlen:"64"` // part of the name in any case, or the start of the access key
}

// SubKey is a sub-key without its secret.
type SubKey struct {
	AccessKey        string  `json:"access_key"`
	Name             string  `json:"name"`
	Level            string  `json:"level"`
	Status           int64   `json:"status"` // 1 active, 0 disabled
	MonthlyQuota     int64   `json:"monthly_quota"`
	UsedMonthlyQuota int64   `json:"used_monthly_quota"`
	RateLimit        int64   `json:"rate_limit"`     // requests per minute
	MaxTimeRange     int64   `json:"max_time_range"` // seconds
	WSConnLimit      int64   `json:"ws_conn_limit"`
	WSSubLimit       int64   `json:"ws_sub_limit"`
	CreatedAt        string  `json:"created_at"` // RFC 3339, UTC
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

// SubKeyDetail is a sub-key with what its owner stored beside it.
type SubKeyDetail struct {
	SubKey
	Metadata  string `json:"metadata"`
	UpdatedAt string `json:"updated_at"` // RFC 3339, UTC
}

// UpdateSubKeyIn changes what is present.
type UpdateSubKeyIn struct {
	AccessKey    string  `path:"access_key"`
	Name         *string `body:"name"`
	Status       *int64  `body:"status" min:"0" max:"1"`
	MonthlyQuota *int64  `body:"monthly_quota" min:"1"`
	RateLimit    *int64  `body:"rate_limit" min:"0"`
	MaxTimeRange *int64  `body:"max_time_range" min:"0"`
	WSConnLimit  *int64  `body:"ws_conn_limit" min:"0"`
	WSSubLimit   *int64  `body:"ws_sub_limit" min:"0"`
	ExpiresIn    *int64  `body:"expires_in" min:"0" max:"3153600000"` // seconds from now, 0 clears the expiry
	Metadata     *string `body:"metadata"`
}

// NewSecret is the answer to a reset: the old secret is dead.
type NewSecret struct {
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
}

// SubKeyStatistics counts the existing sub-keys, and the requests of this month of all
// that have existed.
type SubKeyStatistics struct {
	TotalSubKeys    int64 `json:"total_sub_keys"`
	ActiveSubKeys   int64 `json:"active_sub_keys"`
	DisabledSubKeys int64 `json:"disabled_sub_keys"`
	TotalQuota      int64 `json:"total_quota"`     // sum of the monthly quotas of existing sub-keys
	UsedQuota       int64 `json:"used_quota"`      // requests of all sub-keys counted in this calendar month, UTC, deleted ones included
	RemainingQuota  int64 `json:"remaining_quota"` // max(total_quota - used_quota, 0)
}

// BatchKeysIn names the sub-keys of a batch, all or none of which change.
type BatchKeysIn struct {
	AccessKeys []string `body:"access_keys" required:"true" min:"1" max:"100"`
}

// ExportIn filters the export.
type ExportIn struct {
	Keyword string `query:"keyword" maxlen:"64"`
	Format  string `query:"format" default:"json" enum:"json|csv"`
}

// Export is all of the response body: a bare JSON array, oldest first, or the same as
// CSV with a line of names.
type Export []ExportRow

// Bare marks a response without envelope.
func (Export) Bare() {}

// ExportRow is one row of the export.
type ExportRow struct {
	AccessKey        string `json:"access_key"`
	Name             string `json:"name"`
	Status           int64  `json:"status"`
	MonthlyQuota     int64  `json:"monthly_quota"`
	UsedMonthlyQuota int64  `json:"used_monthly_quota"`
	CreatedAt        string `json:"created_at"`
}
