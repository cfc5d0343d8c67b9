// Package landlock is the kind of sandbox for machines without namespaces:
// the kernel's Landlock keeps commands to the system's software, the
// workspace and directories of their own, and seccomp keeps them from the
// network and from each other's memory. It cannot mount, so that targets are
// found at their sources, and it hides less than namespaces do; what it
// leaves open is listed in its Isolation.
package landlock
