:one
if defined PID set "MANY=1"
set "PID=%~1"
exit /b 0
:wait
if defined SECONDS (
  timeout /t %SECONDS% /nobreak >nul
) else (
  echo Repeat the same work in %IMAGE%, then press a key.
  pause >nul
)
exit /b 0
