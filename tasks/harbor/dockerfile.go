package harbor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A dockerfile is what Proctor takes from environment/Dockerfile, which it
// reads but does not build: where the task works and which files lie there.
type dockerfile struct {
	workdir string // the last WORKDIR, "" if there is none
	copies  []copying
	// without names the instructions that have no effect here, each once, in
	// the order of their first use.
	without []string
}

// A copying is one source of a COPY or a local ADD.
type copying struct {
	from string // relative to environment/; may have wildcards
	to   string // absolute path in the image; ends in "/" for a directory
}

// harmless instructions say nothing about what the agent finds. So does the
// removal of the Dockerfile itself, which is not among its files anyhow.
var harmless = []string{"FROM", "ARG", "LABEL", "MAINTAINER", "CMD", "ENTRYPOINT", "EXPOSE", "STOPSIGNAL", "SHELL"}

func parseDockerfile(src string) dockerfile {
	var d dockerfile
	cwd := "/"
	for _, in := range instructions(src) {
		switch {
		case in.name == "WORKDIR" && plain(in.rest):
			cwd = path.Join(cwd, strings.Trim(in.rest, `"'`))
			d.workdir = cwd
		case in.name == "COPY" || in.name == "ADD":
			if !d.copy(in.rest, cwd) {
				d.ignore(in.name + " of other than the task's own files")
			}
		case slices.Contains(harmless, in.name) || in == instruction{"RUN", "rm Dockerfile"}:
		default:
			d.ignore(in.name)
		}
	}
	return d
}

func (d *dockerfile) ignore(what string) {
	if !slices.Contains(d.without, what) {
		d.without = append(d.without, what)
	}
}

// copy takes the words of a COPY; it reports false when they name anything
// but files of environment/.
func (d *dockerfile) copy(rest, cwd string) bool {
	words := strings.Fields(rest)
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		if strings.HasPrefix(words[0], "--from") {
			return false
		}
		words = words[1:]
	}
	if list := strings.Join(words, " "); strings.HasPrefix(list, "[") {
		words = nil
		if json.Unmarshal([]byte(list), &words) != nil {
			return false
		}
	}
	if len(words) < 2 {
		return false
	}
	for _, w := range words {
		if !plain(w) || strings.Contains(w, "://") || strings.HasPrefix(w, "<<") {
			return false
		}
	}
	to := words[len(words)-1]
	directory := strings.HasSuffix(to, "/") || to == "." || strings.HasSuffix(to, "/.") || len(words) > 2
	if !path.IsAbs(to) {
		to = path.Join(cwd, to)
	}
	to = path.Clean(to)
	if directory && to != "/" {
		to += "/"
	}
	for _, from := range words[:len(words)-1] {
		// A leading slash means the build context, and nothing lies above it.
		from = strings.TrimPrefix(path.Clean("/"+from), "/")
		d.copies = append(d.copies, copying{from: cmp.Or(from, "."), to: to})
	}
	return true
}

// plain reports whether a word needs no build arguments to be understood.
func plain(word string) bool { return word != "" && !strings.Contains(word, "$") }

type instruction struct{ name, rest string }

// instructions splits a Dockerfile, joining continued lines and leaving out
// comments and the bodies of here-documents.
func instructions(src string) []instruction {
	var out []instruction
	var current strings.Builder
	lines := strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if before, continued := strings.CutSuffix(line, `\`); continued {
			current.WriteString(before + " ")
			continue
		}
		current.WriteString(line)
		name, rest, _ := strings.Cut(strings.TrimSpace(current.String()), " ")
		current.Reset()
		out = append(out, instruction{strings.ToUpper(name), strings.TrimSpace(rest)})
		if end := heredocEnd(rest); end != "" {
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != end; i++ {
			}
		}
	}
	if rest := strings.TrimSpace(current.String()); rest != "" {
		name, rest, _ := strings.Cut(rest, " ")
		out = append(out, instruction{strings.ToUpper(name), strings.TrimSpace(rest)})
	}
	return out
}

// heredocEnd returns the word that ends the here-document which an
// instruction opens, "" if it opens none.
func heredocEnd(rest string) string {
	_, after, ok := strings.Cut(rest, "<<")
	if !ok {
		return ""
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(after, "-"), " ")
	return strings.Trim(word, `"'`)
}

// warning says in one line what of the image is missing, "" if nothing is.
func (d dockerfile) warning(image string) string {
	switch {
	case len(d.without) > 0:
		return fmt.Sprintf("environment/Dockerfile is not built; without effect: %s. What it installs must be on this machine", strings.Join(d.without, ", "))
	case image != "":
		return fmt.Sprintf("image %q is not used: commands run with this machine's programs", image)
	}
	return ""
}
