package checkout

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// ReadOnly returns the workspace paths that a read_only_files.txt protects.
// Each line is a pattern in the manner of Python's fnmatch, in which "*" also
// matches "/", over the files of the workspace; those at its top are written
// "./name". "dir/*" protects the directory, so that files cannot be added to
// it either; other patterns protect the files of tree that they match.
func ReadOnly(text string, tree fs.FS) ([]string, error) {
	var paths []string
	var globs []*regexp.Regexp
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		plain, whole := strings.CutSuffix(line, "/*")
		if strings.ContainsAny(plain, "*?[") || whole && path.Clean(plain) == "." {
			globs = append(globs, fnmatch(line))
			continue
		}
		clean := path.Clean(plain)
		if path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") {
			return nil, fmt.Errorf("the pattern %q is not of files inside the workspace", line)
		}
		paths = append(paths, clean)
	}
	if len(globs) > 0 {
		matched, err := match(globs, tree)
		if err != nil {
			return nil, err
		}
		paths = append(paths, matched...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// match lists the files of tree that a pattern matches.
func match(globs []*regexp.Regexp, tree fs.FS) (paths []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		as := name // as the suite's own walk names it
		if !strings.Contains(name, "/") {
			as = "./" + name
		}
		if slices.ContainsFunc(globs, func(g *regexp.Regexp) bool { return g.MatchString(as) }) {
			paths = append(paths, name)
		}
		return nil
	})
	return paths, err
}

// fnmatch compiles a shell pattern. Every text is a pattern: a "[" without
// its "]" stands for itself.
func fnmatch(pattern string) *regexp.Regexp {
	pattern = strings.ToValidUTF8(pattern, "\uFFFD")
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for rest := pattern; rest != ""; {
		c := rest[0]
		switch end := classEnd(rest); {
		case c == '*':
			re.WriteString(".*")
		case c == '?':
			re.WriteString(".")
		case c == '[' && end > 0:
			re.WriteString(class(rest[1:end]))
			rest = rest[end+1:]
			continue
		default:
			r := strings.IndexAny(rest[1:], "*?[") + 1
			if r == 0 {
				r = len(rest)
			}
			re.WriteString(regexp.QuoteMeta(rest[:r]))
			rest = rest[r:]
			continue
		}
		rest = rest[1:]
	}
	re.WriteString(`\z`)
	if compiled, err := regexp.Compile(re.String()); err == nil {
		return compiled
	}
	return regexp.MustCompile(`(?s)\A` + regexp.QuoteMeta(pattern) + `\z`)
}

// classEnd returns where the "]" is that closes the class at the start of
// text, 0 when there is none. A "]" that comes first is a member.
func classEnd(text string) int {
	if text[0] != '[' {
		return 0
	}
	first := 1
	if first < len(text) && text[first] == '!' {
		first++
	}
	if first < len(text) && text[first] == ']' {
		first++
	}
	if first >= len(text) {
		return 0
	}
	if at := strings.IndexByte(text[first:], ']'); at >= 0 {
		return first + at
	}
	return 0
}

// class translates the inside of a character class.
func class(members string) string {
	members = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `^`, `\^`, `&`, `\&`).Replace(members)
	if rest, not := strings.CutPrefix(members, "!"); not {
		return "[^" + rest + "]"
	}
	return "[" + members + "]"
}
