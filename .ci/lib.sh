# Functions that the scripts in this folder share. They source this file, which runs nothing by itself.

# How many seconds to wait for a condition: far more than anything takes, even on a busy machine.
PATIENCE=60
# This folder, wherever a script goes after it has read this file.
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() { # WORDS...: says what went wrong, shows the ends of the logs in $dir, and exits
  echo "FAILED: $*"
  tail -n 20 "$dir"/*.log 2>/dev/null || :
  exit 1
}

wait_until() { # COMMAND...: runs it until it succeeds; returns 1 after $PATIENCE seconds in vain
  local end=$((SECONDS + PATIENCE))
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}

has() { # FILE WORDS: whether a file contains these words, a basic regular expression
  grep -q -- "$2" "$1" 2>/dev/null
}

wait_for() { # FILE WORDS: waits until a file contains these words
  wait_until has "$1" "$2" || fail "'$2' is not in ${1##*/} after $PATIENCE s"
}

address_of() { # PID LOG: waits until a program's JSON log says where it listens, and sets $address
  wait_until says_where "$1" "$2" || fail "the program of ${2##*/} does not say where it listens"
}
says_where() { # PID LOG: one look for address_of
  kill -0 "$1" 2>/dev/null || fail "the program of ${2##*/} has ended"
  address=$(sed -n 's/.*"address":"\(127\.0\.0\.1:[0-9]*\)".*/\1/p' "$2" 2>/dev/null | sed -n 1p)
  [ -n "$address" ]
}

free_port() { # prints a port of 127.0.0.1 that is free
  "$SCRIPTS/free-port"
}

ends() { # PID: waits until a child of this shell ends, and sets $status to its exit status
  wait_until has_ended "$1" || fail "process $1 has not ended after $PATIENCE s"
  status=0
  # The shell itself says on standard error that a process was killed.
  wait "$1" 2>/dev/null || status=$?
}
has_ended() { ! kill -0 "$1" 2>/dev/null; }

retry() { # COMMAND...: runs it up to five times, with growing pauses, for what needs a network
  local pause
  for pause in 5 15 45 60; do
    if "$@"; then return 0; fi
    echo "failed, and tried again in $pause s: $*" >&2
    sleep "$pause"
  done
  "$@"
}

needs() { # PROGRAMS PACKAGES: installs Debian packages unless all these programs are there
  local program
  for program in $1; do
    if ! PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null; then
      # shellcheck disable=SC2086 # Words of their own.
      "$SCRIPTS/install" $2
      return
    fi
  done
}

environment() { # FOLDER REQUIREMENTS: makes a Python environment with these packages, unless it is there
  ! cmp -s "$2" "$1/requirements.txt" || return 0
  python3 -c "import ensurepip" 2>/dev/null || "$SCRIPTS/install" python3-venv
  python3 -m venv --clear "$1"
  retry "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
  cp "$2" "$1/requirements.txt" # Last: all before it is done.
}

open_display() { # starts a virtual screen; sets $display, its process, and DISPLAY for programs
  Xvfb -displayfd 3 -screen 0 1280x720x24 -nolisten tcp 3>"$dir/display" >"$dir/xvfb.log" 2>&1 &
  display=$!
  wait_until has_display || fail "Xvfb does not start"
  export DISPLAY LIBGL_ALWAYS_SOFTWARE=1
}
has_display() { # whether Xvfb has written its number, with the end of the line
  local number
  [ -s "$dir/display" ] && read -r number <"$dir/display" && DISPLAY=:$number
}

look() { # NAME PROGRAM ARGUMENTS...: plays in a window for some seconds, and looks at its last picture
  local name=$1 seconds
  shift
  # It fails if it is not in the game by then, which may take a busy machine longer.
  for seconds in 6 24 60; do
    timeout 300 "$@" --screenshot "$dir/$name.png" --exit-after "$seconds" &&
      python3 "$SCRIPTS/not-blank" "$dir/$name.png" && return 0
  done
  fail "there is nothing to see of $name"
}
