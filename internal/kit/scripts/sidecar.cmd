for /f "delims=" %%V in ('ver') do set "OSBUILD=%%V"
>sidecar.json echo {"project":"@PROJECT_NAME@","scenario":"@SCENARIO_NAME@","evidence":"@EVIDENCE@","image":"%IMAGE%","pid":%PID%,"bits":%BITS%,"host":"%COMPUTERNAME%","os":"%OSBUILD%","began":"%DATE% %TIME%"}
