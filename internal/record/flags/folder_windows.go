package flags

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// folderRights let administrators and the system write, and users read. A user who could write undo files would have
// the registry changed by an administrator's task.
const folderRights = "O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;GRGX;;;BU)"

// Folder is the path of the folder that undo files are in.
func Folder() (string, error) {
	data, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		return "", fmt.Errorf("find ProgramData: %w", err)
	}
	return filepath.Join(data, "heapdrift", "undo"), nil
}

// MakeFolder makes the folder of undo files, which only administrators write.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("undo files: %w", err)
	}
	// Whoever may write to the parent could put another folder in its place. Somebody may have made either before.
	return errors.Join(protect(filepath.Dir(dir)), protect(dir))
}

// protect gives a folder its owner and rights.
func protect(dir string) error {
	rights, err := windows.SecurityDescriptorFromString(folderRights)
	if err != nil {
		return fmt.Errorf("undo files: %w", err)
	}
	owner, _, ownerErr := rights.Owner()
	list, _, listErr := rights.DACL()
	if err := errors.Join(ownerErr, listErr); err != nil {
		return fmt.Errorf("undo files: %w", err)
	}
	err = windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, owner, nil, list, nil)
	if err != nil {
		return fmt.Errorf("undo files: protect %s: %w", dir, err)
	}
	return nil
}
