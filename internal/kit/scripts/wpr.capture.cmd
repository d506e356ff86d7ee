wpr -start VirtualAllocation @WPR_HEAP@-filemode
if errorlevel 1 (
  echo wpr could not start. A recording that runs already ends with: wpr -cancel
  exit /b 3
)
echo The trace runs. @WPR_START@
call :wait
wpr -stop trace.etl
if errorlevel 1 (
  echo wpr could not write the trace.
  wpr -cancel >nul 2>&1
  exit /b 3
)
echo Now run 3-clean-up.cmd, then 4-upload.cmd BUILD.
exit /b 0
