if not defined XPERF set "XPERF=xperf.exe"
"%XPERF%" -on PROC_THREAD+LOADER+VIRT_ALLOC -stackwalk VirtualAlloc+VirtualFree
if errorlevel 1 (
  echo xperf could not start the kernel's session. It is part of the Windows Performance Toolkit.
  exit /b 3
)
"%XPERF%" -start heapsession -heap -pids %PID% -stackwalk HeapAlloc+HeapRealloc -buffersize 1024 -minbuffers 256 -maxbuffers 1024
if errorlevel 1 (
  "%XPERF%" -stop >nul 2>&1
  echo xperf could not trace the heaps of process %PID%.
  exit /b 3
)
echo The trace runs.
call :wait
"%XPERF%" -stop heapsession -d heap.etl
"%XPERF%" -d kernel.etl
"%XPERF%" -merge heap.etl kernel.etl trace.etl
if errorlevel 1 (
  echo xperf could not merge the trace: upload heap.etl and kernel.etl into one run.
  exit /b 3
)
del heap.etl kernel.etl
echo Now run 3-clean-up.cmd, then 4-upload.cmd BUILD.
exit /b 0
