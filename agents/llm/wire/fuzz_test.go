package wire_test

import (
	"bytes"
	"testing"

	"proctor/agents/llm/wire"
)

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("event: a\ndata: {}\n\ndata: [DONE]\n\n"), 3)
	f.Add([]byte("data: a\r\ndata: b\r\n\r\n: c"), 1)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = max(1, size%32)
		split := func(size int) (raw []byte, data [][]byte) {
			var s wire.Splitter
			take := func(e wire.Event) {
				raw = append(raw, e.Raw...)
				data = append(data, bytes.Clone(e.Data))
			}
			for rest := in; len(rest) > 0; {
				n := min(size, len(rest))
				s.Push(rest[:n], take)
				rest = rest[n:]
			}
			s.Flush(take)
			return raw, data
		}
		raw, data := split(size)
		if !bytes.Equal(raw, in) {
			t.Errorf("bytes were lost or changed: %q to %q", in, raw)
		}
		if _, whole := split(len(in) + 1); len(whole) != len(data) {
			t.Errorf("%d events in chunks of %d, %d in one", len(data), size, len(whole))
		}
	})
}

func FuzzMeter(f *testing.F) {
	for _, seed := range []string{
		`{"model":"m","choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`,
		`{"type":"message_start","message":{"usage":{"input_tokens":1,"cache_read_input_tokens":2}}}`,
		`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1,"output_tokens":2}}}`,
		`[{"candidates":[{"content":{"parts":[{"text":"x"}]}}],"usageMetadata":{"promptTokenCount":-5,"thoughtsTokenCount":9223372036854775807}}]`,
		`{"error":{"code":429,"message":"no"}}`,
		"data: {\"usage\":{\"prompt_tokens\":-1,\"prompt_tokens_details\":{\"cached_tokens\":99}}}\n\n",
	} {
		f.Add([]byte(seed), 5)
	}
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		size = max(1, size%64)
		for _, format := range []wire.Format{wire.Chat, wire.Responses, wire.Messages, wire.Gemini} {
			for _, contentType := range []string{"text/event-stream", "application/json"} {
				m := wire.NewMeter(format, contentType)
				for rest := in; len(rest) > 0; {
					n := min(size, len(rest))
					_, _ = m.Write(rest[:n])
					rest = rest[n:]
				}
				r := m.Finish(in)
				u := r.Usage
				if u.Input < 0 || u.Output < 0 || u.Cached < 0 || u.CacheWrite < 0 || u.Reasoning < 0 ||
					u.Cached+u.CacheWrite > u.Input || u.Reasoning > u.Output {
					t.Errorf("%s: impossible usage %+v of %q", format, u, in)
				}
			}
		}
		wire.ReadFault(in)
		if wire.EstimateRequest(in) < 0 {
			t.Errorf("negative estimate of %q", in)
		}
	})
}
