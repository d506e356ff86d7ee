if not exist undo.txt (
  echo Nothing is to be restored: 1-enable.cmd has not run here.
  exit /b 0
)
set "BEFORE=present"
for /f "usebackq" %%V in ("undo.txt") do set "BEFORE=%%V"
if "%BEFORE%"=="absent" reg delete "%KEY%" /f >nul 2>&1
if "%BEFORE%"=="absent" goto restored
for %%V in (GlobalFlag StackTraceDatabaseSizeInMb TracingFlags) do reg delete "%KEY%" /v %%V /f >nul 2>&1
reg import undo.reg >nul 2>&1
if errorlevel 1 (
  echo The settings could not be restored. Run this file as administrator, or import undo.reg.
  exit /b 5
)
:restored
del undo.txt
if exist undo.reg del undo.reg
echo The settings of %IMAGE% are as before. They count for processes that start from now on.
exit /b 0
