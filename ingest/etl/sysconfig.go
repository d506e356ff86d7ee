package etl

// What a merge says about the machine; provider 9b79ee91-b5fd-41c0-a243-4248e266e9d0.
//
//	33  SystemDirectory UTF-16, SystemWindowsDirectory UTF-16
//	35  NtPath UTF-16, DosPath UTF-16

// Volume says under which drive letter a volume of the kernel's paths was mounted: \Device\HarddiskVolume3\ is C:\.
type Volume struct{ NT, DOS string }

// Volume decodes KindVolumeMapping. ok is false where the payload does not have both names.
func (e *Event) Volume() (v Volume, ok bool) {
	var n int
	v.NT, n = utf16z(e.Payload)
	v.DOS, _ = utf16z(e.Payload[n:])
	return v, v.NT != "" && v.DOS != ""
}

// SystemPaths decodes KindSystemPaths: the directories of Windows' own files, "C:\Windows\system32" and "C:\Windows".
// ok is false where the payload does not have both.
func (e *Event) SystemPaths() (system, windows string, ok bool) {
	system, n := utf16z(e.Payload)
	windows, _ = utf16z(e.Payload[n:])
	return system, windows, windows != ""
}
