# Fetches heapdrift from the server in HEAPDRIFT_URL, and keeps it only if its digest is the one that the server states.
# Windows PowerShell 5.1 and PowerShell 7, the latter on Linux and macOS too.
param([string] $Url = $env:HEAPDRIFT_URL, [string] $Folder = '.')
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # Windows PowerShell spends most of a download on drawing its bar
if (-not $Url) { throw 'No server given: set HEAPDRIFT_URL, or -Url http://heapdrift:8080' }
$name = 'heapdrift'
if ($IsLinux -or $IsMacOS) {
    $processor = [string][Runtime.InteropServices.RuntimeInformation]::OSArchitecture
    $system = if ($IsLinux) { 'linux' } else { 'darwin' }
} else {
    $processor = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
    $system = 'windows'
    $name = 'heapdrift.exe'
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
}
$architecture = switch ($processor) { 'ARM64' { 'arm64' } 'x86' { '386' } default { 'amd64' } }
$from = "$($Url.TrimEnd('/'))/download/$system-$architecture/$name"
$program = Join-Path $Folder $name
Invoke-WebRequest -UseBasicParsing -Uri $from -OutFile "$program.new"
$want = ([string](Invoke-RestMethod -UseBasicParsing -Uri "$from.sha256")).Split(' ')[0]
$have = (Get-FileHash -Algorithm SHA256 "$program.new").Hash
if ($have -ne $want) {
    Remove-Item "$program.new"
    throw "$from has the SHA-256 $have, and the server says $want"
}
Move-Item -Force "$program.new" $program
if ($system -ne 'windows') { chmod +x $program }
