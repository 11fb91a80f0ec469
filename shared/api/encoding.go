package api

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"quotary/shared/catalog"
)

// maxResponse is what fits into a function's answer with room for its frame. Lambda
// counts the body as it stands in the function's JSON: a text with its quotes
// escaped, anything else in base64.
const maxResponse = 6<<20 - 64<<10

// gzipAbove is the size in bytes above which an answer is compressed where the
// client accepts it. The gateway compresses smaller ones by itself; larger ones
// would not reach it.
const gzipAbove = 1 << 20

// pack compresses a large body where the client accepts it, and refuses one that
// does not fit.
func (r *request) pack(body []byte) (response, error) {
	res := response{status: http.StatusOK, body: body, varies: len(body) > gzipAbove}
	size := len(body) + bytes.Count(body, []byte{'"'}) + bytes.Count(body, []byte{'\\'})
	if res.varies && acceptsGzip(r.Header["Accept-Encoding"]) {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
		if err != nil {
			return res, err
		}
		if _, err := w.Write(body); err != nil {
			return res, fmt.Errorf("compress the answer: %w", err)
		}
		if err := w.Close(); err != nil {
			return res, fmt.Errorf("compress the answer: %w", err)
		}
		res.body, res.gzip = packed.Bytes(), true
		size = base64.StdEncoding.EncodedLen(packed.Len())
	}
	if size > maxResponse {
		if res.gzip {
			return res, Refuse(catalog.ReasonAnswerTooLarge, "the answer would exceed 6 MB: ask for less at once")
		}
		return res, Refuse(catalog.ReasonAnswerTooLarge, "the answer would exceed 6 MB: ask for less at once, or accept gzip")
	}
	return res, nil
}

// acceptsGzip reads an Accept-Encoding header: gzip by its name counts before *,
// and a quality of 0 refuses.
func acceptsGzip(header []string) bool {
	named, others := -1.0, 0.0
	for entry := range strings.SplitSeq(strings.Join(header, ","), ",") {
		coding, parameters, _ := strings.Cut(entry, ";")
		quality := 1.0
		if q, ok := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(parameters, " ", "")), "q="); ok {
			var err error
			if quality, err = strconv.ParseFloat(q, 64); err != nil || quality < 0 || quality > 1 {
				quality = 0
			}
		}
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			named = max(named, quality)
		case "*":
			others = quality
		}
	}
	if named >= 0 {
		return named > 0
	}
	return others > 0
}
