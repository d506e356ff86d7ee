# PowerShell alone, with HEAPDRIFT_URL and HEAPDRIFT_TOKEN in the environment. Exit codes are those of heapdrift push.
param([Parameter(Mandatory)] [string] $Project, [Parameter(Mandatory)] [string] $Build, [string] $Scenario = 'default', [Parameter(Mandatory)] [string] $Files)
$ErrorActionPreference = 'Stop'
$server = $env:HEAPDRIFT_URL
$headers = @{ Authorization = "Bearer $env:HEAPDRIFT_TOKEN" }
function Escape($text) { [uri]::EscapeDataString($text) }
try {
    $list = @(Get-ChildItem $Files)
    if ($list.Count -eq 0) { throw "no file matches $Files" }
    foreach ($file in $list) {
        $answer = Invoke-RestMethod -Method Put -Headers $headers -InFile $file.FullName -Uri "$server/api/v1/evidence?project=$(Escape $Project)&build=$(Escape $Build)&scenario=$(Escape $Scenario)&name=$(Escape $file.Name)"
    }
    Invoke-RestMethod -Method Post -Headers $headers -Uri "$server/api/v1/runs/$($answer.run)/complete" | Out-Null
    for ($n = 0; $n -lt 6; $n++) {
        $verdict = Invoke-RestMethod -Headers $headers -Uri "$server/api/v1/runs/$($answer.run)/verdict?wait=50s&fail_on=new,grown"
        if ($verdict.gate -ne 'pending') { break }
    }
} catch {
    [Console]::Error.WriteLine($_)
    exit 3
}
$verdict.sentence
"$server$($verdict.url)"
switch ($verdict.gate) { 'passed' { exit 0 } 'failed' { exit 1 } 'inconclusive' { exit 4 } 'pending' { exit 4 } default { exit 3 } }
