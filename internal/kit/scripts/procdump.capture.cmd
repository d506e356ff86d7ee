if not defined PROCDUMP set "PROCDUMP=procdump.exe"
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
"%PROCDUMP%" -accepteula -ma %PID% dump-%NUMBER:~-2%.dmp
if not exist dump-%NUMBER:~-2%.dmp (
  echo ProcDump wrote no dump %1.
  exit /b 3
)
exit /b 0
