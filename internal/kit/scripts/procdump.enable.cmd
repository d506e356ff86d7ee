set "GFLAGS=%DEBUGGERS%\x64\gflags.exe"
if not exist "%GFLAGS%" (
  echo Dumps will have no call stacks: gflags is not below "%DEBUGGERS%".
  exit /b 0
)
