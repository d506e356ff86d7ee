wpr -cancel >nul 2>&1
wpr -HeapTracingConfig "%IMAGE%" disable >nul 2>&1
