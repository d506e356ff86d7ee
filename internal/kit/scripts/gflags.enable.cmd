set "GFLAGS=%DEBUGGERS%\x64\gflags.exe"
if not exist "%GFLAGS%" set "GFLAGS=%DEBUGGERS%\x86\gflags.exe"
if not exist "%GFLAGS%" (
  echo gflags is not below "%DEBUGGERS%". Install the Debugging Tools of the Windows SDK, or set DEBUGGERS.
  exit /b 3
)
"%GFLAGS%" /i "%IMAGE%" +ust /tracedb 512
if errorlevel 1 goto failed
reg query "%KEY%" /v GlobalFlag >nul 2>&1
if errorlevel 1 goto failed
echo Stack recording is on for %IMAGE%. Start it now, let it warm up, and run 2-capture.cmd.
exit /b 0
:failed
echo gflags could not turn on stack recording for %IMAGE%.
exit /b 5
