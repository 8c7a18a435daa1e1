# Functions shared by the scripts in this folder, which source this file.

# Seconds to wait for a condition: far more than needed, even on a busy machine.
PATIENCE=60
# This folder, absolute, because scripts change directory.
SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# For what only root may do.
SUDO=$([ "$(id -u)" = 0 ] || echo sudo)

fail() { # WORDS...: says what went wrong, shows the ends of the logs in $dir, and exits
  echo "FAILED: $*"
  tail -n 20 "$dir"/*.log 2>/dev/null || :
  exit 1
}

wait_until() { # COMMAND...: retries it until it succeeds; returns 1 after $PATIENCE seconds
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
says_where() { # PID LOG: one attempt of address_of
  kill -0 "$1" 2>/dev/null || fail "the program of ${2##*/} has ended"
  address=$(sed -n 's/.*"address":"\(127\.0\.0\.1:[0-9]*\)".*/\1/p' "$2" 2>/dev/null | sed -n 1p)
  [ -n "$address" ]
}

free_port() { # prints a port of 127.0.0.1 that is free
  "$SCRIPTS/free-port"
}

has_players() { # COUNT: whether the script's `ctl` shows this many players of phaselock-bots who are not away
  local shown
  shown=$(ctl players 2>/dev/null) && [ "$(grep "Bot [0-9]" <<<"$shown" | grep -vc "away *$")" = "$1" ]
}

ends() { # PID: waits until a child of this shell ends, and sets $status to its exit status
  wait_until has_ended "$1" || fail "process $1 has not ended after $PATIENCE s"
  status=0
  # The shell reports on standard error that a process was killed.
  wait "$1" 2>/dev/null || status=$?
}
has_ended() { ! kill -0 "$1" 2>/dev/null; }

retry() { # COMMAND...: tries it up to five times, with growing pauses; for commands that need a network
  local pause
  for pause in 5 15 45 60; do
    if "$@"; then return 0; fi
    echo "failed, and tried again in $pause s: $*" >&2
    sleep "$pause"
  done
  "$@"
}

needs() { # PROGRAMS PACKAGES: installs Debian packages unless all these programs exist
  local program
  for program in $1; do
    if ! PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null; then
      # shellcheck disable=SC2086 # One argument per word.
      "$SCRIPTS/install" $2
      return
    fi
  done
}

clean_root() { # FOLDER: unpacks this release of Debian there, without anything installed; `inside` runs programs in it
  local suite base
  needs mmdebstrap mmdebstrap
  suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
  base=$target/deb-root-$suite.tar
  if [ ! -e "$base" ]; then
    retry $SUDO mmdebstrap --variant=apt --format=tar --quiet "$suite" "$base.part"
    mv "$base.part" "$base"
  fi
  root=$1
  mkdir "$root"
  $SUDO tar -xf "$base" -C "$root" --exclude=./dev/*
  $SUDO mkdir -p "$root/dev"
  $SUDO mknod -m 666 "$root/dev/null" c 1 3
  $SUDO mknod -m 666 "$root/dev/urandom" c 1 9
  $SUDO cp /etc/resolv.conf "$root/etc/"
}
inside() { # COMMAND...: runs it in the root that clean_root made
  $SUDO chroot "$root" env -u LD_LIBRARY_PATH LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}

look_inside() { # PROGRAM ARGUMENTS...: plays in a window, by a program in the root, and checks the last picture
  local seconds
  for seconds in 6 24 60; do
    inside DISPLAY="$DISPLAY" LIBGL_ALWAYS_SOFTWARE=1 HOME=/tmp timeout 300 "$@" --screenshot /tmp/window.png \
      --exit-after "$seconds" || continue
    ! python3 "$SCRIPTS/not-blank" "$root/tmp/window.png" || return 0
  done
  fail "there is nothing to see of $1"
}

# The newest glibc that programs for Linux may need: docs/install.md and packaging/START.txt state it, and which systems
# have it. A program needs what its builder has, so releases are made on Debian 12.
GLIBC_MAX=2.35
runs_on_glibc() { # FILES...: whether none of them needs a newer one
  local file needed
  needs objdump binutils
  for file in "$@"; do
    needed=$(objdump -T "$file" | sed -n 's/.*(\?GLIBC_\([0-9.]*\))\?.*/\1/p' | sort -uV | tail -n 1)
    [ -n "$needed" ] || fail "${file##*/} does not say which glibc it needs"
    dpkg --compare-versions "$needed" le "$GLIBC_MAX" || fail "${file##*/} needs glibc $needed, newer than $GLIBC_MAX"
  done
}

environment() { # FOLDER REQUIREMENTS: creates a Python environment with these packages, unless it exists
  ! cmp -s "$2" "$1/requirements.txt" || return 0
  python3 -c "import ensurepip" 2>/dev/null || "$SCRIPTS/install" python3-venv
  python3 -m venv --clear "$1"
  retry "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
  cp "$2" "$1/requirements.txt" # Last, as a sign that everything is done.
}

document() { # PROGRAM SHARE [ZSH]: writes a program's manual pages and completions into a folder like /usr/share
  local name=${1##*/} zsh=$2/zsh/${3:-site-functions}
  mkdir -p "$2/man/man1" "$2/bash-completion/completions" "$2/fish/vendor_completions.d" "$zsh"
  "$1" man "$2/man/man1"
  "$1" completions bash >"$2/bash-completion/completions/$name"
  "$1" completions zsh >"$zsh/_$name"
  "$1" completions fish >"$2/fish/vendor_completions.d/$name.fish"
}

open_display() { # starts a virtual screen; sets $display, its process, and DISPLAY for programs
  if ! command -v Xvfb >/dev/null || ! PATH=$PATH:/usr/sbin:/sbin ldconfig -p | grep libGL.so.1 >/dev/null; then
    "$SCRIPTS/install" xvfb libgl1 libgl1-mesa-dri libx11-6 libxi6 libxkbcommon0 libxcursor1
  fi
  Xvfb -displayfd 3 -screen 0 1280x720x24 -nolisten tcp 3>"$dir/display" >"$dir/xvfb.log" 2>&1 &
  display=$!
  wait_until has_display || fail "Xvfb does not start"
  export DISPLAY LIBGL_ALWAYS_SOFTWARE=1
}
has_display() { # whether Xvfb has written its number, with the end of the line
  local number
  [ -s "$dir/display" ] && read -r number <"$dir/display" && DISPLAY=:$number
}

look() { # NAME PROGRAM ARGUMENTS...: plays in a window for some seconds, and checks its last picture
  local name=$1 seconds status
  shift
  # It fails if it has not joined in time; a busy machine may need longer.
  for seconds in 6 24 60; do
    status=0
    timeout 300 "$@" --screenshot "$dir/$name.png" --exit-after "$seconds" 2>"$dir/$name.log" || status=$?
    cat "$dir/$name.log"
    # 0: it has joined; 1: not in time; 124: a timeout. Anything else is a mistake, a panic, or a signal.
    [ "$status" -le 1 ] || [ "$status" = 124 ] || fail "$name ended with status $status"
    ! has "$dir/$name.log" panicked || fail "$name panicked"
    [ "$status" != 0 ] || ! python3 "$SCRIPTS/not-blank" "$dir/$name.png" || return 0
  done
  fail "there is nothing to see of $name"
}

# attempts FUNCTION: calls it with 1, 4 and 10 until it succeeds: how many times as long it is to play, because this
# machine may be busy.
attempts() {
  local times
  for times in 1 4 10; do
    if "$1" "$times"; then return; fi
  done
  fail "three attempts of '$1' have failed"
}

# measured NAME CONDITION SECONDS PROGRAM ARGUMENTS...: runs bots; all of them must be in the game at
# the end, and a condition in Python must hold of their figures `r`. There, `free` is the part of the
# machine's processor time that other programs left. On a busy machine some bots may not join, so
# there are three attempts, each longer.
measured() {
  local name=$1 condition=$2 seconds=$3 times status
  shift 3
  for times in 1 2 4; do
    status=0
    python3 - $$ "$dir/$name.json" "$dir/bots.log" "$condition" "$@" --json \
      --seconds $((times * seconds)) <<'P' || status=$?
import glob, json, subprocess, sys
shell, figures, log, condition, *command = sys.argv[1:]

def spent():
    """Processor time so far: of this script and its programs, of others, and idle."""
    own = 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = open(path).read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if shell in (fields[1], path.split("/")[2]):
            own += sum(map(int, fields[11:15]))
    user, nice, system, idle, wait, *more = map(int, open("/proc/stat").readline().split()[1:9])
    return own, user + nice + system + sum(more) - own, idle + wait

before = spent()
with open(figures, "w") as out, open(log, "w") as err:
    status = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err).returncode
own, others, idle = (now - then for now, then in zip(spent(), before))
said, figures = open(log).read(), open(figures).read()
print(said + figures.strip())
if status not in (0, 1) or "panicked" in said:
    sys.exit(f"the bots ended with status {status}")
# Status 1: not all were in the game.
r, free = json.loads(figures), 1 - others / max(own + others + idle, 1)
print(f"other programs left {free:.0%} of the machine")
sys.exit(0 if r["connected"] == r["clients"] and eval(condition) else 3)
P
    [ "$status" != 0 ] || return 0
    [ "$status" = 3 ] || fail "$name: a busy machine alone does not explain this"
  done
  fail "$name: somebody was left out, or not $condition"
}

mistake() { # WORDS COMMAND...: the command must fail with one sentence that has these words
  local words=$1
  shift
  if "$@" >"$dir/mistake.log" 2>&1 </dev/null; then fail "accepted: $*"; fi
  grep -q -- "$words" "$dir/mistake.log" || fail "'$words' is not in what it said to: $*"
  ! grep -q panicked "$dir/mistake.log" || fail "panicked: $*"
  [ "$(grep -c . "$dir/mistake.log")" = 1 ] || fail "more than one sentence: $*"
}
