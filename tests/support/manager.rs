//! A manager of services that does what `systemctl --user` does with our unit.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes down what it is told, and starts and ends what the unit says, as its one line of a command
/// and its assignments read the same to a shell unless there are signs in them.
const SYSTEMCTL: &str = r#"#!/bin/sh
unit=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/tma1.service
state=@STATE@
echo "$*" >>"$state/calls"
[ ! -e "$state/no-bus" ] || { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
begin() {
    eval "$(sed -n 's/^Environment=/export /p' "$unit")"
    unset TMA1_PORT
    eval "$(sed -n 's/^ExecStart=//p' "$unit") >/dev/null 2>&1 &"
    echo $! >"$state/pid"
}
end() {
    [ -e "$state/pid" ] || return 0
    kill "$(cat "$state/pid")" 2>/dev/null
    while kill -0 "$(cat "$state/pid")" 2>/dev/null; do sleep 0.05; done
    rm "$state/pid"
}
case "$*" in
"--user enable --now tma1.service")
    [ ! -e "$state/broken" ] || { echo "Unit tma1.service has a bad setting" >&2; exit 1; }
    begin ;;
"--user restart tma1.service")
    [ -e "$unit" ] || { echo "Unit tma1.service not found." >&2; exit 5; }
    [ ! -e "$state/no-restart" ] || { echo "Unit tma1.service is masked." >&2; exit 1; }
    end
    begin ;;
"--user disable --now tma1.service")
    [ -e "$unit" ] || { echo "Unit file tma1.service does not exist." >&2; exit 1; }
    end ;;
"--user is-active --quiet tma1.service")
    [ -e "$state/pid" ] && kill -0 "$(cat "$state/pid")" 2>/dev/null ;;
"--user show-environment" | "--user daemon-reload") ;;
*) echo "Unknown command verb $*." >&2; exit 1 ;;
esac
"#;

/// Puts `systemctl` into `folder`, where it also keeps its state: `calls`, what it was told; `pid`, what it
/// has started. With a file `no-bus` there it can't be talked to, with `broken` it starts nothing, with
/// `no-restart` it starts nothing again.
pub fn place(folder: &Path) {
    fs_err::create_dir_all(folder).unwrap();
    let program = SYSTEMCTL.replace("@STATE@", &format!("'{}'", folder.display()));
    let path = folder.join("systemctl");
    fs_err::write(&path, program).unwrap();
    fs_err::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}
