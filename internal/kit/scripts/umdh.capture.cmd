set "UMDH=%DEBUGGERS%\x64\umdh.exe"
if "%BITS%"=="32" set "UMDH=%DEBUGGERS%\x86\umdh.exe"
if not exist "%UMDH%" (
  echo UMDH for %BITS% bits is not at "%UMDH%". Install the Debugging Tools of the Windows SDK, or set DEBUGGERS.
  exit /b 3
)
set "TAKEN=0"
:next
set /a TAKEN+=1
call :wait
call :take %TAKEN%
if errorlevel 1 exit /b 3
if %TAKEN% lss @SNAPSHOTS@ goto next
echo Now run 3-clean-up.cmd, then 4-upload.cmd BUILD.
exit /b 0
:take
set "NUMBER=0%1"
"%UMDH%" -p:%PID% -f:umdh-%NUMBER:~-2%.txt
if errorlevel 1 (
  echo UMDH failed at snapshot %1.
  exit /b 3
)
exit /b 0
