# Writes comment.md as one note of the merge request, found again by its first line.
$ErrorActionPreference = 'Stop'
$body = Get-Content comment.md -Raw -Encoding UTF8
$mark = ($body -split "`n")[0].Trim()
$notes = "$env:CI_API_V4_URL/projects/$env:CI_PROJECT_ID/merge_requests/$env:CI_MERGE_REQUEST_IID/notes"
$headers = @{ 'PRIVATE-TOKEN' = $env:COMMENT_TOKEN }
$old = $null
for ($page = 1; -not $old; $page++) {
    $list = @(Invoke-RestMethod -Headers $headers -Uri "${notes}?per_page=100&page=$page")
    if ($list.Count -eq 0) { break }
    $old = $list | Where-Object { $_.body.StartsWith($mark) } | Select-Object -First 1
}
$json = [Text.Encoding]::UTF8.GetBytes((@{ body = $body } | ConvertTo-Json))
if ($old) { Invoke-RestMethod -Method Put -Headers $headers -ContentType application/json -Body $json -Uri "$notes/$($old.id)" | Out-Null }
else { Invoke-RestMethod -Method Post -Headers $headers -ContentType application/json -Body $json -Uri $notes | Out-Null }
