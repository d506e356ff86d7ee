wpr -HeapTracingConfig "%IMAGE%" enable
if errorlevel 1 (
  echo wpr could not turn on heap tracing for %IMAGE%.
  exit /b 5
)
echo Heap tracing is on for %IMAGE%. Run 2-capture.cmd now: it waits for you to start %IMAGE%.
exit /b 0
