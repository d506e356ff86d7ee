echo DebugDiag Collection has no command line for a leak rule. In its window, for process %PID%:
echo  1. Tools, Processes: right-click the process, "Monitor for Leaks". It injects LeakTrack.
echo  2. Work for 15 minutes or more.
echo  3. Right-click the process, "Create Full Userdump", five times with the same work between.
echo  4. Copy the dumps into this folder. Then run 4-upload.cmd BUILD.
exit /b 0
