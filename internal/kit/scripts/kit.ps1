# @TITLE@ of @IMAGE@, project @PROJECT_NAME@. README.txt says when. As administrator, one after the other:
#   powershell -ExecutionPolicy Bypass -File kit.ps1 Enable
#   powershell -ExecutionPolicy Bypass -File kit.ps1 Capture [-ProcessId 1234] [-Seconds 300]
#   powershell -ExecutionPolicy Bypass -File kit.ps1 CleanUp
#   powershell -ExecutionPolicy Bypass -File kit.ps1 Upload -Build 4812
param(
    [Parameter(Mandatory, Position = 0)] [ValidateSet('Enable', 'Capture', 'CleanUp', 'Upload')] [string] $Do,
    [int] $ProcessId = 0, [int] $Seconds = 0, [string] $Build = ''
)
$ErrorActionPreference = 'Stop'
Set-Location $PSScriptRoot
$image = '@IMAGE@'
$evidence = '@EVIDENCE@'
$snapshots = @SNAPSHOTS@
$server = '@SERVER@'
$key = "HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Image File Execution Options\$image"
$values = 'GlobalFlag', 'StackTraceDatabaseSizeInMb', 'TracingFlags'
$debuggers = if ($env:DEBUGGERS) { $env:DEBUGGERS } else { "${env:ProgramFiles(x86)}\Windows Kits\10\Debuggers" }

function Stop-With([int] $code, [string] $text) {
    [Console]::Error.WriteLine($text)
    exit $code
}

function Test-Elevated {
    $me = New-Object Security.Principal.WindowsPrincipal ([Security.Principal.WindowsIdentity]::GetCurrent())
    if (-not $me.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)) { Stop-With 5 'Run this as administrator.' }
}

# Runs a program; a code other than 0 ends the script.
function Start-Tool([string] $tool, [string[]] $words, [int] $code = 3) {
    if (-not (Get-Command $tool -ErrorAction SilentlyContinue)) { Stop-With $code "$tool is not installed, or not in PATH." }
    & $tool @words
    if ($LASTEXITCODE -ne 0) { Stop-With $code "$tool $words ends with $LASTEXITCODE." }
}

# What was there before, for CleanUp. A second run keeps the first answer.
function Save-Settings {
    if (Test-Path undo.json) { return }
    $before = @{ Present = (Test-Path $key); Values = @{} }
    if ($before.Present) {
        $item = Get-Item $key
        foreach ($value in $values) {
            if ($item.GetValueNames() -contains $value) {
                $before.Values[$value] = @{ Value = $item.GetValue($value); Type = [string]$item.GetValueKind($value) }
            }
        }
    }
    $before | ConvertTo-Json -Depth 4 | Set-Content undo.json -Encoding UTF8
}

function Restore-Settings {
    if (-not (Test-Path undo.json)) { 'Nothing is to be restored: Enable has not run here.'; return }
    $before = Get-Content undo.json -Raw -Encoding UTF8 | ConvertFrom-Json
    if (-not $before.Present) {
        if (Test-Path $key) { Remove-Item $key -Recurse }
    } else {
        foreach ($value in $values) {
            $old = $before.Values.$value
            if ($old) { Set-ItemProperty $key $value $old.Value -Type $old.Type }
            else { Remove-ItemProperty $key $value -ErrorAction SilentlyContinue }
        }
    }
    Remove-Item undo.json
    "The settings of $image are as before. They count for processes that start from now on."
}

function Enable-Stacks {
    $gflags = 'x64', 'x86' | ForEach-Object { Join-Path $debuggers "$_\gflags.exe" } | Where-Object { Test-Path $_ } | Select-Object -First 1
    if (-not $gflags) {
        if ($evidence -eq 'procdump') { "Dumps will have no call stacks: gflags is not below $debuggers."; return }
        Stop-With 3 "gflags is not below $debuggers. Install the Debugging Tools of the Windows SDK, or set DEBUGGERS."
    }
    Save-Settings
    Start-Tool $gflags @('/i', $image, '+ust', '/tracedb', '512') 5
    "Stack recording is on for $image. Start it now, let it warm up, and run Capture."
}

# The process: the ID that was given, or the one process of the image.
function Find-Process {
    $found = @(if ($ProcessId) { Get-Process -Id $ProcessId } else { Get-Process -Name ($image -replace '\.exe$', '') -ErrorAction SilentlyContinue })
    if ($found.Count -eq 0) { Stop-With 2 "$image does not run. Start it, or give -ProcessId." }
    if ($found.Count -gt 1) { Stop-With 2 "Several processes run ${image}: give -ProcessId, one of $($found.Id -join ', ')." }
    $found[0]
}

# A 32-bit process of a 64-bit Windows has wow64.dll.
function Get-Bits($process) {
    if (-not [Environment]::Is64BitOperatingSystem) { return 32 }
    $wow = @(tasklist /m wow64.dll /nh /fi "PID eq $($process.Id)" 2>$null | Select-String -SimpleMatch "$($process.Id)")
    if ($wow.Count -gt 0) { 32 } else { 64 }
}

function Save-Sidecar($process, [int] $bits) {
    [ordered]@{
        project = '@PROJECT_NAME@'; scenario = '@SCENARIO_NAME@'; evidence = $evidence; image = $image
        pid = if ($process) { $process.Id } else { 0 }; bits = $bits; host = $env:COMPUTERNAME
        os = [Environment]::OSVersion.VersionString; began = (Get-Date).ToString('o')
    } | ConvertTo-Json | Set-Content sidecar.json -Encoding UTF8
}

function Wait-Work {
    if ($Seconds) { Start-Sleep -Seconds $Seconds } else { Read-Host "Repeat the same work in $image, then press Enter" | Out-Null }
}

function Start-Capture {
    $process = $null
    $bits = 0
    if ($evidence -notlike 'wpr*') {
        $process = Find-Process
        $bits = Get-Bits $process
    }
    Save-Sidecar $process $bits
    switch ($evidence) {
        'umdh' {
            $umdh = Join-Path $debuggers ('{0}\umdh.exe' -f $(if ($bits -eq 32) { 'x86' } else { 'x64' }))
            foreach ($n in 1..$snapshots) {
                Wait-Work
                Start-Tool $umdh @("-p:$($process.Id)", ('-f:umdh-{0:d2}.txt' -f $n))
            }
        }
        'procdump' {
            $procdump = if ($env:PROCDUMP) { $env:PROCDUMP } else { 'procdump.exe' }
            foreach ($n in 1..$snapshots) {
                Wait-Work
                $dump = 'dump-{0:d2}.dmp' -f $n
                & $procdump -accepteula -ma $process.Id $dump
                if (-not (Test-Path $dump)) { Stop-With 3 "ProcDump wrote no dump $n." }
            }
        }
        { $_ -like 'wpr*' } {
            $profiles = @('-start', 'VirtualAllocation')
            if ($evidence -eq 'wpr') { $profiles += @('-start', 'Heap') }
            Start-Tool 'wpr.exe' ($profiles + '-filemode')
            'The trace runs. @WPR_START@'
            Wait-Work
            Start-Tool 'wpr.exe' @('-stop', 'trace.etl')
        }
        'xperf' {
            $xperf = if ($env:XPERF) { $env:XPERF } else { 'xperf.exe' }
            Start-Tool $xperf @('-on', 'PROC_THREAD+LOADER+VIRT_ALLOC', '-stackwalk', 'VirtualAlloc+VirtualFree')
            Start-Tool $xperf @('-start', 'heapsession', '-heap', '-pids', "$($process.Id)", '-stackwalk', 'HeapAlloc+HeapRealloc',
                '-buffersize', '1024', '-minbuffers', '256', '-maxbuffers', '1024')
            Wait-Work
            Start-Tool $xperf @('-stop', 'heapsession', '-d', 'heap.etl')
            Start-Tool $xperf @('-d', 'kernel.etl')
            Start-Tool $xperf @('-merge', 'heap.etl', 'kernel.etl', 'trace.etl')
            Remove-Item heap.etl, kernel.etl
        }
        'perfview' {
            $perfview = if ($env:PERFVIEW) { $env:PERFVIEW } else { 'PerfView.exe' }
            $length = if ($Seconds) { $Seconds } else { 120 }
            Start-Tool $perfview @('/NoGui', '/AcceptEula', '/BufferSizeMB:1024', "/OSHeapProcess:$($process.Id)", "/MaxCollectSec:$length", '/DataFile:trace.etl', 'collect')
        }
        'debugdiag' { "DebugDiag Collection has no command line for a leak rule: README.txt has the steps for process $($process.Id)." }
    }
    'Now run CleanUp, then Upload -Build BUILD.'
}

function Stop-Recording {
    switch ($evidence) {
        'wpr' { wpr.exe -cancel 2>$null | Out-Null; wpr.exe -HeapTracingConfig $image disable 2>$null | Out-Null; Restore-Settings }
        'wpr-virtual' { wpr.exe -cancel 2>$null | Out-Null }
        'xperf' {
            $xperf = if ($env:XPERF) { $env:XPERF } else { 'xperf.exe' }
            & $xperf -stop heapsession 2>$null | Out-Null
            & $xperf -stop 2>$null | Out-Null
        }
        { $_ -in 'umdh', 'procdump' } { Restore-Settings }
    }
}

function Send-Files {
    if ($Build -notmatch '^[A-Za-z0-9._-]+$') { Stop-With 2 'Give the build under test: -Build 4812. It may have letters, digits, dots, dashes and underscores.' }
    $files = @(Get-ChildItem @PS_FILES@ -ErrorAction SilentlyContinue)
    if ($files.Count -eq 0) { Stop-With 2 'There is nothing to upload: run Capture first.' }
    # The token, of the scope upload, comes from HEAPDRIFT_TOKEN or the file token.txt.
    $token = $env:HEAPDRIFT_TOKEN
    if (-not $token -and (Test-Path token.txt)) { $token = (Get-Content token.txt -TotalCount 1).Trim() }
    $headers = @{}
    if ($token) { $headers.Authorization = "Bearer $token" }
    $ProgressPreference = 'SilentlyContinue'
    try {
        foreach ($file in $files) {
            $answer = Invoke-RestMethod -Method Put -Headers $headers -InFile $file.FullName -Uri "$server/api/v1/evidence?project=@PS_PROJECT@&scenario=@PS_SCENARIO@&build=$Build&name=$([uri]::EscapeDataString($file.Name))"
        }
        Invoke-RestMethod -Method Post -Headers $headers -Uri "$server/api/v1/runs/$($answer.run)/complete" | Out-Null
    } catch { Stop-With 3 "The upload failed: $_" }
    "$($files.Count) files are uploaded: $server/runs/$($answer.run)"
}

switch ($Do) {
    'Enable' {
        Test-Elevated
        switch ($evidence) {
            { $_ -in 'umdh', 'procdump' } { Enable-Stacks }
            'wpr' {
                Save-Settings
                Start-Tool 'wpr.exe' @('-HeapTracingConfig', $image, 'enable') 5
                "Heap tracing is on for $image. Run Capture now: it waits for you to start $image."
            }
            default { 'Nothing is to be done: this evidence changes no setting.' }
        }
    }
    'Capture' { Test-Elevated; Start-Capture }
    'CleanUp' { Test-Elevated; Stop-Recording }
    'Upload' { Send-Files }
}
