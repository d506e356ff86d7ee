fltmc >nul 2>&1
if errorlevel 1 (
  echo Run this file as administrator.
  exit /b 5
)
