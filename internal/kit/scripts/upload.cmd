rem The token, of the scope upload, comes from HEAPDRIFT_TOKEN or the file token.txt, and goes to curl by a file that only you can read.
set "BUILD=%~1"
if not defined BUILD (
  echo Give the build under test: %~nx0 4812
  exit /b 2
)
for /f "delims=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-" %%X in ("%BUILD%") do set "BUILD="
if not defined BUILD (
  echo The build may have letters, digits, dots, dashes and underscores.
  exit /b 2
)
if not defined HEAPDRIFT_TOKEN if exist token.txt set /p HEAPDRIFT_TOKEN=<token.txt
set "CONFIG=%TEMP%\heapdrift-%RANDOM%.cfg"
type nul >"%CONFIG%"
if defined HEAPDRIFT_TOKEN >"%CONFIG%" echo header = "Authorization: Bearer %HEAPDRIFT_TOKEN%"
set "RUN="
set "SENT=0"
for %%F in (@FILES@) do (
  call :send "%%~nxF"
  if errorlevel 1 goto refused
)
if "%SENT%"=="0" (
  echo There is nothing to upload: run 2-capture.cmd first.
  del "%CONFIG%"
  exit /b 2
)
curl -fsS -K "%CONFIG%" -X POST -o nul "@SERVER@/api/v1/runs/%RUN%/complete"
if errorlevel 1 goto refused
del "%CONFIG%"
echo %SENT% files are uploaded: @SERVER@/runs/%RUN%
exit /b 0
:refused
del "%CONFIG%"
echo The upload failed. The server's answer is above, or in answer.json.
exit /b 3
:send
curl --fail-with-body -sS -K "%CONFIG%" -T %1 -o answer.json "@SERVER@/api/v1/evidence?project=@PROJECT@&scenario=@SCENARIO@&build=%BUILD%&name=%~1"
if errorlevel 1 exit /b 3
set /a SENT+=1
rem The answer has "run":7 among its fields.
set "ANSWER="
for /f "usebackq delims=" %%L in ("answer.json") do set "ANSWER=%%L"
del answer.json
set "ANSWER=%ANSWER:"=%"
set "ANSWER=%ANSWER:*run:=%"
for /f "delims=,}" %%R in ("%ANSWER%") do set "RUN=%%R"
exit /b 0
