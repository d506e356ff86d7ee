# Fetches heapdrift.exe from the server in HEAPDRIFT_URL, and keeps it only if its digest is the one that the server states.
param([string] $Url = $env:HEAPDRIFT_URL, [string] $Folder = '.')
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # Windows PowerShell spends most of a download on drawing its bar
if (-not $Url) { throw 'No server given: set HEAPDRIFT_URL, or -Url http://heapdrift:8080' }
$processor = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
$architecture = switch ($processor) { 'ARM64' { 'arm64' } 'x86' { '386' } default { 'amd64' } }
$from = "$($Url.TrimEnd('/'))/download/windows-$architecture/heapdrift.exe"
$program = Join-Path $Folder 'heapdrift.exe'
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
Invoke-WebRequest -UseBasicParsing -Uri $from -OutFile "$program.new"
$want = ([string](Invoke-RestMethod -UseBasicParsing -Uri "$from.sha256")).Split(' ')[0]
$have = (Get-FileHash -Algorithm SHA256 "$program.new").Hash
if ($have -ne $want) {
    Remove-Item "$program.new"
    throw "$from has the SHA-256 $have, and the server says $want"
}
Move-Item -Force "$program.new" $program
