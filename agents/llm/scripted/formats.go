package scripted

import (
	"encoding/json"
	"fmt"
	"strings"

	"proctor/agents/llm/wire"
)

type object = map[string]any

// An event is one event of a streamed reply.
type event struct {
	name string
	data any
}

func (e event) text() string {
	if s, ok := e.data.(string); ok {
		return s
	}
	return string(marshal(e.data))
}

func (e event) sse() string {
	if e.name != "" {
		return "event: " + e.name + "\ndata: " + e.text() + "\n\n"
	}
	return "data: " + e.text() + "\n\n"
}

// element is the event as the i-th of n elements of a JSON array.
func (e event) element(i, n int) string {
	open, end := ",\r\n", ""
	if i == 0 {
		open = "["
	}
	if i == n-1 {
		end = "]"
	}
	return open + e.text() + end
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("the script cannot be written as JSON: %v", err)) // a mistake in the test
	}
	return b
}

// pieces cuts a text into what goes into one event each.
func (t Turn) pieces(s string) []string {
	size := t.Chunk
	if size <= 0 {
		size = 16
	}
	var list []string
	for len(s) > size {
		n := size
		for n > 1 && s[n]&0xc0 == 0x80 { // never inside a character
			n--
		}
		list, s = append(list, s[:n]), s[n:]
	}
	if s != "" {
		list = append(list, s)
	}
	return list
}

func (t Turn) id(i int) string {
	switch {
	case t.NoIDs:
		return ""
	case t.Calls[i].ID != "":
		return t.Calls[i].ID
	}
	return fmt.Sprintf("call_%d", i+1)
}

// input is the arguments as an object where the format has one; arguments
// that are not JSON cannot be said there other than as a string.
func (c Call) input() any {
	if json.Valid([]byte(c.Args)) {
		return json.RawMessage(c.Args)
	}
	return c.Args
}

// stream is a turn as events.
func stream(r Request, t Turn) []event {
	switch r.Format {
	case wire.Responses:
		return responsesEvents(r, t)
	case wire.Messages:
		return messagesEvents(r, t)
	case wire.Gemini:
		return geminiEvents(r, t)
	}
	return chatEvents(r, t)
}

// whole is a turn in one piece.
func whole(r Request, t Turn) any {
	switch r.Format {
	case wire.Responses:
		return responsesWhole(r, t)
	case wire.Messages:
		return messagesWhole(r, t)
	case wire.Gemini:
		return geminiWhole(r, t)
	}
	return chatWhole(r, t)
}

// streamError is an error object inside a stream.
func streamError(f wire.Format, message string) string {
	switch f {
	case wire.Responses:
		return event{"error", object{"type": "error", "code": "server_error", "message": message}}.sse()
	case wire.Messages:
		return event{"error", object{"type": "error", "error": object{"type": "overloaded_error", "message": message}}}.sse()
	case wire.Gemini:
		return event{"", object{"error": object{"code": 503, "status": "UNAVAILABLE", "message": message}}}.sse()
	}
	return event{"", object{"error": object{"type": "server_error", "message": message}}}.sse()
}

// Chat completions.

func chatUsage(u *wire.Usage) object {
	return object{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.Cached},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning}}
}

func (t Turn) chatCall(i int, args string) object {
	call := object{"function": object{"name": t.Calls[i].Name, "arguments": args}}
	if !t.NoIDs {
		call["id"], call["index"], call["type"] = t.id(i), i, "function"
	}
	return call
}

func (t Turn) chatFinish() string {
	if len(t.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func chatEvents(r Request, t Turn) []event {
	var list []event
	add := func(delta object, finish any) {
		list = append(list, event{"", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": r.Model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}}})
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, p := range t.pieces(t.Reasoning) {
		add(object{"reasoning_content": p}, nil)
	}
	for _, p := range t.pieces(t.Text) {
		add(object{"content": p}, nil)
	}
	for i, c := range t.Calls {
		if t.NoIDs { // such servers send the call in one piece
			add(object{"tool_calls": []object{t.chatCall(i, c.Args)}}, nil)
			continue
		}
		add(object{"tool_calls": []object{t.chatCall(i, "")}}, nil)
		for _, p := range t.pieces(c.Args) {
			add(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}}, nil)
		}
	}
	add(object{}, t.chatFinish())
	if t.Usage != nil {
		list = append(list, event{"", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": r.Model,
			"choices": []object{}, "usage": chatUsage(t.Usage)}})
	}
	return append(list, event{"", "[DONE]"})
}

func chatWhole(r Request, t Turn) any {
	message := object{"role": "assistant", "content": t.Text}
	if t.Reasoning != "" {
		message["reasoning_content"] = t.Reasoning
	}
	var calls []object
	for i, c := range t.Calls {
		calls = append(calls, t.chatCall(i, c.Args))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	v := object{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": r.Model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": t.chatFinish()}}}
	if t.Usage != nil {
		v["usage"] = chatUsage(t.Usage)
	}
	return v
}

// Responses.

func (t Turn) responsesItems() []object {
	var items []object
	if t.Reasoning != "" {
		items = append(items, object{"type": "reasoning", "id": "rs_1", "summary": []object{{"type": "summary_text", "text": t.Reasoning}}})
	}
	if t.Text != "" {
		items = append(items, object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": t.Text, "annotations": []any{}}}})
	}
	for i, c := range t.Calls {
		items = append(items, object{"type": "function_call", "id": fmt.Sprintf("fc_%d", i+1), "call_id": t.id(i),
			"name": c.Name, "arguments": c.Args, "status": "completed"})
	}
	return items
}

func responsesWhole(r Request, t Turn) object {
	v := object{"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": r.Model, "output": t.responsesItems()}
	if v["output"] == nil {
		v["output"] = []any{}
	}
	if u := t.Usage; u != nil {
		v["usage"] = object{"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"input_tokens_details":  object{"cached_tokens": u.Cached},
			"output_tokens_details": object{"reasoning_tokens": u.Reasoning}}
	}
	return v
}

func responsesEvents(r Request, t Turn) []event {
	var list []event
	add := func(kind string, v object) {
		v["type"], v["sequence_number"] = kind, len(list)
		list = append(list, event{kind, v})
	}
	add("response.created", object{"response": object{"id": "resp_1", "object": "response", "status": "in_progress", "model": r.Model, "output": []any{}}})
	for n, item := range t.responsesItems() {
		begun := object{}
		for k, v := range item {
			begun[k] = v
		}
		id, _ := item["id"].(string)
		switch item["type"] {
		case "reasoning":
			begun["summary"] = []any{}
			add("response.output_item.added", object{"output_index": n, "item": begun})
			add("response.reasoning_summary_part.added", object{"output_index": n, "item_id": id, "summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
			for _, p := range t.pieces(t.Reasoning) {
				add("response.reasoning_summary_text.delta", object{"output_index": n, "item_id": id, "summary_index": 0, "delta": p})
			}
		case "message":
			begun["content"], begun["status"] = []any{}, "in_progress"
			add("response.output_item.added", object{"output_index": n, "item": begun})
			for _, p := range t.pieces(t.Text) {
				add("response.output_text.delta", object{"output_index": n, "item_id": id, "content_index": 0, "delta": p})
			}
		case "function_call":
			args, _ := item["arguments"].(string)
			begun["arguments"], begun["status"] = "", "in_progress"
			add("response.output_item.added", object{"output_index": n, "item": begun})
			for _, p := range t.pieces(args) {
				add("response.function_call_arguments.delta", object{"output_index": n, "item_id": id, "delta": p})
			}
		}
		add("response.output_item.done", object{"output_index": n, "item": item})
	}
	add("response.completed", object{"response": responsesWhole(r, t)})
	return list
}

// Messages.

func (t Turn) messagesStop() string {
	if len(t.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// messagesInput is the prompt's part of the usage: Anthropic's input_tokens
// leave out what came from or went to the cache.
func messagesInput(u *wire.Usage) object {
	return object{"input_tokens": u.Input - u.Cached - u.CacheWrite,
		"cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.CacheWrite, "output_tokens": 1}
}

func messagesWhole(r Request, t Turn) any {
	content := []object{}
	if t.Reasoning != "" {
		content = append(content, object{"type": "thinking", "thinking": t.Reasoning, "signature": "sig"})
	}
	if t.Text != "" {
		content = append(content, object{"type": "text", "text": t.Text})
	}
	for i, c := range t.Calls {
		content = append(content, object{"type": "tool_use", "id": t.id(i), "name": c.Name, "input": c.input()})
	}
	v := object{"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model, "content": content, "stop_reason": t.messagesStop()}
	if t.Usage != nil {
		u := messagesInput(t.Usage)
		u["output_tokens"] = t.Usage.Output
		v["usage"] = u
	}
	return v
}

func messagesEvents(r Request, t Turn) []event {
	var list []event
	add := func(kind string, v object) {
		v["type"] = kind
		list = append(list, event{kind, v})
	}
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": r.Model, "content": []any{}}
	if t.Usage != nil {
		message["usage"] = messagesInput(t.Usage)
	}
	add("message_start", object{"message": message})
	index := 0
	block := func(begin object, field, kind, text string) {
		add("content_block_start", object{"index": index, "content_block": begin})
		for _, p := range t.pieces(text) {
			add("content_block_delta", object{"index": index, "delta": object{"type": kind, field: p}})
		}
		if begin["type"] == "thinking" {
			add("content_block_delta", object{"index": index, "delta": object{"type": "signature_delta", "signature": "sig"}})
		}
		add("content_block_stop", object{"index": index})
		index++
	}
	if t.Reasoning != "" {
		block(object{"type": "thinking", "thinking": "", "signature": ""}, "thinking", "thinking_delta", t.Reasoning)
	}
	if t.Text != "" {
		block(object{"type": "text", "text": ""}, "text", "text_delta", t.Text)
	}
	for i, c := range t.Calls {
		block(object{"type": "tool_use", "id": t.id(i), "name": c.Name, "input": object{}}, "partial_json", "input_json_delta", c.Args)
	}
	end := object{"delta": object{"stop_reason": t.messagesStop(), "stop_sequence": nil}}
	if t.Usage != nil {
		end["usage"] = object{"output_tokens": t.Usage.Output}
	}
	add("message_delta", end)
	add("message_stop", object{})
	return list
}

// Gemini.

func geminiChunk(r Request, u *wire.Usage, finish string, parts ...object) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	v := object{"candidates": []object{candidate}, "modelVersion": r.Model}
	if u != nil { // thoughts are not among the candidates' tokens
		v["usageMetadata"] = object{"promptTokenCount": u.Input, "cachedContentTokenCount": u.Cached,
			"candidatesTokenCount": u.Output - u.Reasoning, "thoughtsTokenCount": u.Reasoning, "totalTokenCount": u.Input + u.Output}
	}
	return v
}

func (t Turn) geminiParts(cut func(string) []string) []object {
	parts := []object{}
	for _, p := range cut(t.Reasoning) {
		parts = append(parts, object{"text": p, "thought": true})
	}
	for _, p := range cut(t.Text) {
		parts = append(parts, object{"text": p})
	}
	for _, c := range t.Calls {
		parts = append(parts, object{"functionCall": object{"name": c.Name, "args": c.input()}})
	}
	return parts
}

func geminiWhole(r Request, t Turn) any {
	one := func(s string) []string { return strings.SplitN(s, "", min(1, len(s))) }
	return geminiChunk(r, t.Usage, "STOP", t.geminiParts(one)...)
}

func geminiEvents(r Request, t Turn) []event {
	var list []event
	for _, p := range t.geminiParts(t.pieces) {
		var early *wire.Usage
		if t.Usage != nil { // counts on the way, as Gemini sends them
			early = &wire.Usage{Input: t.Usage.Input, Cached: t.Usage.Cached, Output: 1}
		}
		list = append(list, event{"", geminiChunk(r, early, "", p)})
	}
	return append(list, event{"", geminiChunk(r, t.Usage, "STOP", object{"text": ""})})
}
