#!/bin/sh
# Hands one hook event of @TITLE@, read from standard input, to the local tma1 daemon and prints the
# daemon's answer.
#
# Written by `tma1 install --adapter @AGENT@`, which writes it again when it differs: a change made
# here does not last.
#
# An agent must not notice that the daemon is away: at most half a second, one whole answer or
# nothing, exit status 0 always.
@PATHS@
port=@PORT@

# Whatever goes wrong below, the status is 0, as another one can stop the agent, and nothing is said
# about it.
trap 'exit 0' EXIT
trap '' PIPE
exec 2>/dev/null

# Without standard input there is no event.
true <&0 || exit 0

# The answers are captured, so that a client that fails halfway leaves nothing behind.
if [ -f "$tma1" ] && [ -x "$tma1" ]; then
    answer=$("$tma1" hook --agent @AGENT@ --port "$port" --data-dir "$data_dir") && {
        printf '%s' "$answer"
        exit 0
    }
fi

# curl counts its time from when it has read the event, so a second process ends it if standard
# input stays open. What it leaves behind is whole only with the mark.
answer=$(
    exec 3<&0
    curl -q -sf -m 0.5 --noproxy '*' --max-filesize 1000000 -D - -H 'Content-Type: application/json' \
        -H 'Expect:' --data-binary @- "http://127.0.0.1:$port/api/hooks@QUERY@" <&3 &
    curl=$!
    { sleep 1; kill "$curl"; } </dev/null >/dev/null 3<&- &
    wait "$curl" && printf '|whole'
    kill $!
)
case $answer in
*'|whole') answer=${answer%'|whole'} ;;
*) exit 0 ;;
esac

# Only the daemon's words may reach a model: the header tells them from those of a stranger on its
# port. The headers end at the first empty line.
cr=$(printf '\r')
lf='
'
case ${answer%%"$lf$cr$lf"*} in
"HTTP/1.1 200 "*"${lf}tma1-protocol: 1$cr"*) printf '%s' "${answer#*"$lf$cr$lf"}" ;;
esac
exit 0
