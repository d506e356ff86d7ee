wpr -cancel >nul 2>&1
echo No recording runs, and no setting was changed.
exit /b 0
