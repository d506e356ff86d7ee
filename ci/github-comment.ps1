# Writes comment.md as one comment of a pull request on GitHub, found again by its first line: for build servers of others than GitHub.
#   ./ci/github-comment.ps1 -Repository acme/shopd -PullRequest 17      with GITHUB_TOKEN in the environment (pull requests: write)
param([Parameter(Mandatory)][string]$Repository, [Parameter(Mandatory)][int]$PullRequest, [string]$Api = 'https://api.github.com')
$ErrorActionPreference = 'Stop'
if (-not (Test-Path comment.md)) { exit 0 }
$body = Get-Content comment.md -Raw -Encoding UTF8
$mark = ($body -split "`n")[0].Trim()
$headers = @{ Authorization = "Bearer $env:GITHUB_TOKEN"; Accept = 'application/vnd.github+json' }
$old = $null
for ($page = 1; -not $old; $page++) {
    $list = @(Invoke-RestMethod -Headers $headers -Uri "$Api/repos/$Repository/issues/$PullRequest/comments?per_page=100&page=$page")
    if ($list.Count -eq 0) { break }
    $old = $list | Where-Object { $_.body.StartsWith($mark) } | Select-Object -First 1
}
$json = [Text.Encoding]::UTF8.GetBytes((@{ body = $body } | ConvertTo-Json))
if ($old) { Invoke-RestMethod -Method Patch -Headers $headers -ContentType application/json -Body $json -Uri "$Api/repos/$Repository/issues/comments/$($old.id)" | Out-Null }
else { Invoke-RestMethod -Method Post -Headers $headers -ContentType application/json -Body $json -Uri "$Api/repos/$Repository/issues/$PullRequest/comments" | Out-Null }
