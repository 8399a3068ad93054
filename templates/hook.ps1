# Hands one hook event of @TITLE@, read from standard input, to the local tma1 daemon and prints the
# daemon's answer.
#
# Written by `tma1 install --adapter @AGENT@`, which writes it again when it differs: a change made
# here does not last.
#
# An agent must not notice that the daemon is away: at most a second, one whole answer or nothing,
# exit status 0 always.
try {
    $stdin = New-Object System.IO.StreamReader([Console]::OpenStandardInput(), (New-Object System.Text.UTF8Encoding $false))
    $body = [System.Text.Encoding]::UTF8.GetBytes($stdin.ReadToEnd())
    $answer = Invoke-WebRequest -Uri 'http://127.0.0.1:@PORT@/api/hooks@QUERY@' -Method Post `
        -ContentType 'application/json' -Body $body -TimeoutSec 1 -UseBasicParsing -ErrorAction Stop
    # Only the daemon's words may reach a model, not those of a stranger on its port.
    if ($answer.Headers['tma1-protocol'] -eq '1') {
        $bytes = $answer.RawContentStream.ToArray()
        $stdout = [Console]::OpenStandardOutput()
        $stdout.Write($bytes, 0, $bytes.Length)
        $stdout.Flush()
    }
} catch {
}
exit 0
