package record

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf16"

	"heapdrift/internal/record/flags"
)

// taskTime is how long the scheduler of Windows may take to answer.
const taskTime = 30 * time.Second

// programCopy is this program beside the undo files. The task runs with the rights of the system: it must not run a
// file that users can write.
func (s *settings) programCopy() string {
	return filepath.Join(s.machine.UndoFolder, fmt.Sprintf("heapdrift-%d.exe", s.undo.RecorderPID))
}

func taskName(u *flags.Undo) string {
	return fmt.Sprintf("heapdrift undo %s %d", strings.Map(plainLetter, u.Image), u.RecorderPID)
}

// plainLetter leaves letters that names of tasks may have.
func plainLetter(r rune) rune {
	if strings.ContainsRune(`\/:*?"<>|`, r) || r < ' ' {
		return '_'
	}
	return r
}

// schedule has Windows restore the settings at a time and at every boot, in case that nobody has before.
func (s *settings) schedule(ctx context.Context, at time.Time) error {
	program := s.programCopy()
	if err := copyFile(s.machine.Program, program); err != nil {
		return err
	}
	file := filepath.Join(s.machine.UndoFolder, fmt.Sprintf("task-%d.xml", s.undo.RecorderPID))
	if err := os.WriteFile(file, taskXML(program, at), 0o600); err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }() // the scheduler has read it
	ctx, cancel := context.WithTimeout(ctx, taskTime)
	defer cancel()
	out, err := s.machine.Tools.Run(ctx, "schtasks.exe", "/create", "/tn", s.undo.Task, "/xml", file, "/f")
	if err != nil {
		return fmt.Errorf("schtasks /create: %w: %s", err, strings.TrimSpace(out))
	}
	return nil
}

// unschedule removes the task. One that stays finds nothing to restore.
func (s *settings) unschedule(ctx context.Context) {
	if s.undo.Task == "" {
		return
	}
	_, _ = s.machine.Tools.Run(ctx, "schtasks.exe", "/delete", "/tn", s.undo.Task, "/f")
	_ = os.Remove(s.programCopy()) // it stays while it runs itself
}

// copyFile copies a program to where only administrators write.
func copyFile(from, to string) error {
	if from == to {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closing := out.Close(); err == nil {
		err = closing
	}
	return err
}

// taskXML is a task for schtasks /xml: dates on its command line depend on the language of Windows. The task tries
// again every hour, as the recorder may still run at the first time.
func taskXML(program string, at time.Time) []byte {
	var name bytes.Buffer
	_ = xml.EscapeText(&name, []byte(program)) // a buffer has no errors
	text := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Restores the settings that heapdrift record has changed.</Description>
  </RegistrationInfo>
  <Triggers>
    <TimeTrigger>
      <Repetition><Interval>PT1H</Interval></Repetition>
      <StartBoundary>%s</StartBoundary>
    </TimeTrigger>
    <BootTrigger/>
  </Triggers>
  <Principals>
    <Principal id="Author"><UserId>S-1-5-18</UserId><RunLevel>HighestAvailable</RunLevel></Principal>
  </Principals>
  <Settings>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT10M</ExecutionTimeLimit>
  </Settings>
  <Actions Context="Author"><Exec><Command>%s</Command><Arguments>record --undo</Arguments></Exec></Actions>
</Task>
`, at.Local().Format("2006-01-02T15:04:05"), name.String())
	out := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return out
}
