# Records snapshots of a program with UMDH from the Debugging Tools for Windows. Run it as administrator: gflags writes to the registry.
param([Parameter(Mandatory)] [string] $Program, [string] $Folder = 'umdh', [int] $Count = 12, [int] $Seconds = 150)
$ErrorActionPreference = 'Stop'
$tools = "${env:ProgramFiles(x86)}\Windows Kits\10\Debuggers\x64"
if (-not (Test-Path "$tools\umdh.exe")) { throw "UMDH is not at ${tools}: install the Debugging Tools of the Windows SDK, or see docs/ci.md" }
New-Item -ItemType Directory -Force $Folder | Out-Null
$name = Split-Path $Program -Leaf
& "$tools\gflags.exe" /i $name +ust | Out-Null
try {
    $process = Start-Process $Program -PassThru
    for ($n = 1; $n -le $Count; $n++) {
        Start-Sleep -Seconds $Seconds
        if ($process.HasExited) { throw "$name ended with $($process.ExitCode) before snapshot $n" }
        & "$tools\umdh.exe" "-p:$($process.Id)" ("-f:{0}\{1}-{2:d2}.txt" -f $Folder, $name, $n)
        if ($LASTEXITCODE -ne 0) { throw "umdh ends with $LASTEXITCODE at snapshot $n" }
    }
} finally {
    & "$tools\gflags.exe" /i $name -ust | Out-Null
    if ($process -and -not $process.HasExited) { $process.Kill() }
}
