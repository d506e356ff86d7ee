echo Nothing is to be done: this evidence changes no setting.
exit /b 0
