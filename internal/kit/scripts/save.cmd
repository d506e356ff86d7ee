rem What was there before, for 3-clean-up.cmd. A second run keeps the first answer.
if exist undo.txt goto saved
reg export "%KEY%" undo.reg /y >nul 2>&1
if errorlevel 1 (echo absent>undo.txt) else (echo present>undo.txt)
:saved
