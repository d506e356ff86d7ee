package blame

import "testing"

// A path is the system's where it lies in the folder of Windows of this machine, however it is spelt.
func TestIsSystemPath(t *testing.T) {
	for path, want := range map[string]bool{
		`C:\Windows\System32\ntdll.dll`:                      true,
		`c:/windows/system32/ntdll.dll`:                      true,
		`D:\WINNT\system32\ntdll.dll`:                        true,
		`\??\C:\Windows\System32\ntdll.dll`:                  true,
		`\\?\C:\Windows\System32\ntdll.dll`:                  true,
		`\SystemRoot\System32\ntdll.dll`:                     true,
		`%windir%\System32\ntdll.dll`:                        true,
		`\Windows\System32\ntdll.dll`:                        true,
		`\Device\HarddiskVolume3\Windows\System32\ntdll.dll`: true,
		`\Device\HarddiskVolume3\Program Files\app.dll`:      false,
		`\Device\Windows`:                                    false,
		`\Device\x`:                                          false,
		`\Device\`:                                           false,
		`\\server\Windows\System32\ntdll.dll`:                false,
		`Windows\System32\ntdll.dll`:                         false,
		`C:\Program Files\Windows\app.dll`:                   false,
		`C:\WindowsApps\app.dll`:                             false,
		`C:\Windows\Temp\app.dll`:                            false,
		`C:\Windows\ServiceProfiles\LocalService\app.dll`:    false,
		`C:\Windows\System32\config\systemprofile\x\app.dll`: false,
		`ntdll.dll`: false,
		``:          false,
	} {
		if got := isSystemPath(path); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}
