// Package bwrap is the kind of sandbox that bubblewrap makes: namespaces of
// its own for users, processes, mounts, network, IPC and host name, in which
// only the system's software, the workspace and the spec's mounts exist.
package bwrap
