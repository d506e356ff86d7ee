rem The trace holds every process; 0 says that none was chosen.
set "PID=0"
set "BITS=0"
