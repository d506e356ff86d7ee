rem The process: the ID that was given, or the one process of the image.
set "PID=%~1"
if defined PID goto known
set "MANY="
for /f "tokens=2 delims=," %%P in ('tasklist /fo csv /nh /fi "IMAGENAME eq %IMAGE%"') do call :one %%P
:known
if defined PID for /f "delims=0123456789" %%X in ("%PID%") do set "PID="
if not defined PID (
  echo %IMAGE% does not run. Start it, or give the ID of a process: %~nx0 1234
  exit /b 2
)
if defined MANY (
  echo Several processes run %IMAGE%. Give the ID of one: %~nx0 1234
  exit /b 2
)
rem A 32-bit process of a 64-bit Windows has wow64.dll.
set "BITS=64"
if "%PROCESSOR_ARCHITECTURE%"=="x86" if not defined PROCESSOR_ARCHITEW6432 set "BITS=32"
tasklist /m wow64.dll /nh /fi "PID eq %PID%" 2>nul | find "%PID%" >nul
if not errorlevel 1 set "BITS=32"
