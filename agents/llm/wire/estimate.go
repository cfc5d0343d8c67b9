package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	// charsPerToken is the rule of thumb for English and code.
	charsPerToken = 4
	// blobTokens stands for an image or a file, whose encoded length says
	// nothing about its tokens.
	blobTokens = 1000
	// blobLength is how long a word must be to be taken for encoded data.
	blobLength = 4096
)

// EstimateChars returns about how many tokens a text of n characters has.
func EstimateChars(n int64) int64 { return (n + charsPerToken - 1) / charsPerToken }

// EstimateText returns about how many tokens a text has.
func EstimateText(s string) int64 { return EstimateChars(int64(utf8.RuneCountInString(s))) }

// EstimateRequest returns about how many tokens the body of a request has:
// the strings in it, be they messages, tool descriptions or their names.
func EstimateRequest(body []byte) int64 {
	var chars, blobs int64
	d := json.NewDecoder(bytes.NewReader(body))
	for {
		t, err := d.Token()
		if err != nil {
			break
		}
		s, ok := t.(string)
		switch {
		case !ok:
		case len(s) > blobLength && !strings.ContainsAny(s[:blobLength], " \n\t"):
			blobs++
		default:
			chars += int64(utf8.RuneCountInString(s))
		}
	}
	return EstimateChars(chars) + blobs*blobTokens
}
