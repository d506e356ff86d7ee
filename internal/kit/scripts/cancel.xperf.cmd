if not defined XPERF set "XPERF=xperf.exe"
"%XPERF%" -stop heapsession >nul 2>&1
"%XPERF%" -stop >nul 2>&1
echo No recording runs, and no setting was changed.
exit /b 0
