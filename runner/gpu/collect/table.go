package collect

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"proctor/runner/gpu"
)

// writeTable prints a sample for a person, with a row per device and below it
// one per process.
func writeTable(w io.Writer, s gpu.Sample) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s  %s", s.At.Format("2006-01-02 15:04:05"), s.Source)
	if s.Driver != "" {
		fmt.Fprintf(&b, "  driver %s", s.Driver)
	}
	b.WriteByte('\n')
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "GPU\tname\tutil\tmemory\tpower\ttemp\tSM clock\tremarks")
	for _, d := range s.Devices {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.ID(), d.Name,
			figure(d.Utilization, " %"), of(gib(d.MemoryUsed), gib(d.MemoryTotal), " GiB"),
			of(watts(d.PowerW), watts(d.PowerLimitW), " W"), figure(d.TemperatureC, " °C"), figure(d.SMClockMHz, " MHz"), remarks(d))
		for _, p := range d.Processes {
			fmt.Fprintf(t, "\tpid %d\t%s\t%s\t\t\t\t\n", p.PID, figure(p.Utilization, " %"), of(gib(p.Memory), "", " GiB"))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if s.ForeignPIDs {
		b.WriteString("The process ids are of another pid namespace: this is a container.\n")
	}
	b.WriteByte('\n')
	_, err := io.Copy(w, trimmed(&b))
	return err
}

// trimmed drops the blanks that a tabwriter leaves at the ends of lines.
func trimmed(b *bytes.Buffer) io.Reader {
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(strings.TrimRight(line, " \n"))
		out.WriteByte('\n')
	}
	return strings.NewReader(out.String())
}

func figure(v *int, unit string) string {
	if v == nil {
		return "n/a"
	}
	return strconv.Itoa(*v) + unit
}

func gib(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(float64(*v)/(1<<30), 'f', 1, 64)
}

func watts(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', 0, 64)
}

func of(used, total, unit string) string {
	switch {
	case used == "":
		return "n/a"
	case total == "":
		return used + unit
	}
	return used + "/" + total + unit
}

func remarks(d gpu.Device) string {
	var r []string
	if d.Err != "" {
		r = append(r, d.Err)
	}
	if d.MIGEnabled {
		r = append(r, "divided (MIG)")
	}
	if d.Xid != nil {
		r = append(r, gpu.XidText(d.Xid.Code))
	}
	if d.ECC != nil && d.ECC.Uncorrected > 0 {
		r = append(r, fmt.Sprintf("%d uncorrected memory errors", d.ECC.Uncorrected))
	}
	return strings.Join(append(r, d.Throttle...), ", ")
}
