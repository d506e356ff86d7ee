if not defined PERFVIEW set "PERFVIEW=PerfView.exe"
if not defined SECONDS set "SECONDS=120"
"%PERFVIEW%" /NoGui /AcceptEula /BufferSizeMB:1024 /OSHeapProcess:%PID% /MaxCollectSec:%SECONDS% /DataFile:trace.etl collect
if errorlevel 1 (
  echo PerfView could not record.
  exit /b 3
)
echo Now run 4-upload.cmd BUILD.
exit /b 0
