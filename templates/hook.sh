#!/bin/sh
# Hands one hook event of @TITLE@, read from standard input, to the local tma1 daemon and prints the
# daemon's answer.
#
# Written by `tma1 install --adapter @AGENT@`, which writes it again when it differs: a change made
# here does not last.
#
# An agent must not notice that the daemon is away: at most half a second, one whole answer or
# nothing, exit status 0 always.
tma1=@BINARY@
port=@PORT@

# The answers are captured, so that a client that fails halfway leaves nothing behind.
if [ -f "$tma1" ] && [ -x "$tma1" ]; then
    answer=$("$tma1" hook --agent @AGENT@ --port "$port" 2>/dev/null) && {
        printf '%s' "$answer"
        exit 0
    }
fi

# Only the daemon's words may reach a model: the header tells them from those of a stranger on its
# port. The headers end at the first empty line.
cr=$(printf '\r')
lf='
'
answer=$(curl -q -sf -m 0.5 --noproxy '*' -D - -H 'Content-Type: application/json' -H 'Expect:' \
    --data-binary @- "http://127.0.0.1:$port/api/hooks@QUERY@" 2>/dev/null) || exit 0
case $answer in
*"${lf}tma1-protocol: 1${cr}"*"${lf}${cr}${lf}"*) printf '%s' "${answer#*"${lf}${cr}${lf}"}" ;;
esac
exit 0
