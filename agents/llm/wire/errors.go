package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// ReadFault finds the error in the body of a failed call, whoever wrote it.
// It returns nil when the body is not an error object.
func ReadFault(body []byte) *Fault {
	body = bytes.TrimSpace(body)
	if bytes.HasPrefix(body, []byte("[")) { // Gemini wraps it when it streams
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return nil
		}
		body = list[0]
	}
	var v struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"` // vLLM and llama.cpp at times
		Detail  loose           `json:"detail"`  // FastAPI
		Type    string          `json:"type"`
	}
	if !decode(body, &v) {
		return nil
	}
	if f := faultOf(v.Error); f != nil {
		return f
	}
	if text := first(v.Message, string(v.Detail)); text != "" {
		return &Fault{Type: v.Type, Message: text}
	}
	return nil
}

// faultOf reads the value of an error field.
func faultOf(raw json.RawMessage) *Fault {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil { // Ollama says it in a string
		return &Fault{Message: text}
	}
	var v struct {
		Type    string `json:"type"`
		Status  string `json:"status"` // Gemini
		Code    loose  `json:"code"`   // a word, or a number with Gemini
		Message string `json:"message"`
	}
	if !decode(raw, &v) {
		return nil
	}
	f := &Fault{Type: first(v.Type, v.Status), Code: string(v.Code), Message: v.Message}
	if f.Message == "" {
		f.Message = first(f.Code, f.Type, string(raw))
	}
	return f
}

// ErrorBody writes an error as the provider of a format would, so that any
// client of it understands. code is a word for programs.
func ErrorBody(f Format, status int, code, message string) []byte {
	var v any
	switch f {
	case Messages:
		kind := map[int]string{
			http.StatusBadRequest:            "invalid_request_error",
			http.StatusUnauthorized:          "authentication_error",
			http.StatusPaymentRequired:       "billing_error",
			http.StatusForbidden:             "permission_error",
			http.StatusNotFound:              "not_found_error",
			http.StatusRequestEntityTooLarge: "request_too_large",
			http.StatusTooManyRequests:       "rate_limit_error",
		}[status]
		v = map[string]any{"type": "error", "error": map[string]any{
			"type": first(kind, "api_error"), "code": code, "message": message}}
	case Gemini:
		kind := map[int]string{
			http.StatusBadRequest:      "INVALID_ARGUMENT",
			http.StatusUnauthorized:    "UNAUTHENTICATED",
			http.StatusPaymentRequired: "RESOURCE_EXHAUSTED",
			http.StatusForbidden:       "PERMISSION_DENIED",
			http.StatusNotFound:        "NOT_FOUND",
			http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
			http.StatusBadGateway:      "UNAVAILABLE",
		}[status]
		v = map[string]any{"error": map[string]any{
			"code": status, "status": first(kind, "INTERNAL"), "message": message,
			"details": []any{map[string]any{"reason": code}}}}
	default:
		kind := "invalid_request_error"
		switch {
		case status == http.StatusPaymentRequired:
			kind = "insufficient_quota"
		case status >= 500:
			kind = "server_error"
		}
		v = map[string]any{"error": map[string]any{
			"message": message, "type": kind, "param": nil, "code": code}}
	}
	body, err := json.Marshal(v)
	if err != nil { // strings and numbers only: cannot be
		return []byte(`{"error":{"message":` + strconv.Quote(code) + `}}`)
	}
	return append(body, '\n')
}

func first(words ...string) string {
	for _, w := range words {
		if strings.TrimSpace(w) != "" {
			return w
		}
	}
	return ""
}
