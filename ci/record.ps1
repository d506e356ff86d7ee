# Records snapshots of a program's heaps, as administrator: stack recording is a setting in the registry.
#
#   ./ci/record.ps1 -Program out/Release/shop.exe -Arguments '--port 8080' -Count 12 -Seconds 150
#   ./ci/record.ps1 -Program out/Release/shop.exe -Work { ./tests/place-100-orders.ps1 }     a snapshot after each equal piece of work
#
# Equal work between snapshots decides sooner than equal time. Where heapdrift.exe has "record" (see get-heapdrift.ps1) and no -Work is given,
# heapdrift records. Else UMDH of the Debugging Tools for Windows does, in the bitness of the program. The settings of the image (stack
# recording, size of its database) are restored at the end, as they were before.
param(
    [Parameter(Mandatory)] [string] $Program, [string] $Arguments = '', [string] $Folder = 'umdh', [int] $Count = 12,
    [int] $Seconds = 150, [scriptblock] $Work, [int] $StackMegabytes = 64
)
$ErrorActionPreference = 'Stop'
$Program = (Resolve-Path $Program).Path
$name = Split-Path $Program -Leaf
New-Item -ItemType Directory -Force $Folder | Out-Null

$heapdrift = Get-Command ./heapdrift.exe, heapdrift.exe -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
if ($heapdrift -and -not $Work -and (& $heapdrift.Source help | Select-String -SimpleMatch 'heapdrift record ')) {
    $words = @($Arguments -split ' ' | Where-Object { $_ })
    & $heapdrift.Source record --snapshots $Count --every "${Seconds}s" -o $Folder -- $Program @words
    # 0, 1 and 4 are verdicts: heapdrift push judges the evidence.
    if (0, 1, 4 -contains $LASTEXITCODE) { exit 0 }
    exit $LASTEXITCODE
}

# The machine field of the PE header says which tools fit the process.
$bytes = New-Object byte[] 4096
$file = [IO.File]::OpenRead($Program)
try { [void]$file.Read($bytes, 0, $bytes.Length) } finally { $file.Close() }
$header = [BitConverter]::ToInt32($bytes, 0x3c)
if ($header -lt 0 -or $header + 6 -gt $bytes.Length) { throw "$Program is not a program of Windows" }
$bitness = switch ([BitConverter]::ToUInt16($bytes, $header + 4)) {
    0x14c { 'x86' } 0x8664 { 'x64' } 0xaa64 { 'arm64' } default { throw "$Program is for a machine that UMDH does not know" }
}
$tools = "${env:ProgramFiles(x86)}\Windows Kits\10\Debuggers\$bitness"
if (-not (Test-Path "$tools\umdh.exe")) { throw "UMDH is not at ${tools}: install the Debugging Tools of the Windows SDK, or see docs/ci.md" }

$stackRecording = 0x1000 # FLG_USER_STACK_TRACE_DB
$values = 'GlobalFlag', 'StackTraceDatabaseSizeInMb'
$key = "HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\$name"
$before = @{}
if (Test-Path $key) {
    $item = Get-Item $key
    foreach ($value in $values) {
        if ($item.GetValueNames() -contains $value) { $before[$value] = @{ Value = $item.GetValue($value); Type = $item.GetValueKind($value) } }
    }
    $item.Close()
} else { $before = $null }

function Restore-Settings {
    if (-not (Test-Path $key)) { return }
    if ($null -eq $before) { Remove-Item $key -Recurse; return }
    foreach ($value in $values) {
        if ($before.ContainsKey($value)) { Set-ItemProperty $key $value $before[$value].Value -Type $before[$value].Type }
        else { Remove-ItemProperty $key $value -ErrorAction SilentlyContinue }
    }
}

$process = $null
try {
    foreach ($setting in @(@('+ust'), @('/tracedb', "$StackMegabytes"))) {
        & "$tools\gflags.exe" /i $name @setting | Out-Null
        if ($LASTEXITCODE -ne 0) { throw "gflags /i $name $setting ends with ${LASTEXITCODE}: run as administrator" }
    }
    # What counts is the registry, whatever gflags says.
    if (-not ([uint32](Get-ItemProperty $key).GlobalFlag -band $stackRecording)) { throw "stack recording is not on for ${name}: run as administrator" }
    $start = @{ FilePath = $Program; PassThru = $true }
    if ($Arguments) { $start.ArgumentList = $Arguments }
    $process = Start-Process @start
    for ($n = 1; $n -le $Count; $n++) {
        if ($Work) { & $Work } else { Start-Sleep -Seconds $Seconds }
        if ($process.HasExited) { throw "$name ended with $($process.ExitCode) before snapshot $n" }
        & "$tools\umdh.exe" "-p:$($process.Id)" ('-f:{0}\{1}-{2:d2}.txt' -f $Folder, $name, $n)
        if ($LASTEXITCODE -ne 0) { throw "umdh ends with $LASTEXITCODE at snapshot $n" }
    }
} finally {
    Restore-Settings
    if ($process -and -not $process.HasExited) { $process.Kill() }
}
