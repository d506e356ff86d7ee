@echo off
rem @TITLE@ of @IMAGE@, project @PROJECT_NAME@. README.txt says when.
setlocal
chcp 65001 >nul
set "IMAGE=@IMAGE@"
set "KEY=HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\@IMAGE@"
if not defined DEBUGGERS set "DEBUGGERS=%ProgramFiles(x86)%\Windows Kits\10\Debuggers"
cd /d "%~dp0"
