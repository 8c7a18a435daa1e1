# Windows under Wine, for the scripts in this folder, which source this file after lib.sh. It is in $dir, apart
# from the user's Wine with its settings and windows. Debian's Wine 8 lacks bcryptprimitives.dll, which the standard
# library needs: a stub lies beside the programs that run here, and is no part of them.

available() { # PROGRAM PACKAGES: installs them, or says that they cannot be had
  needs "$@" || { echo "NOT DONE: $2 cannot be installed here" >&2; exit 77; }
}

start_wine() { # makes the Windows, and sets $drive to its drive C; needs a display
  available wine "wine wine64"
  available x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64
  export WINEPREFIX=$dir/prefix WINEDEBUG=${WINEDEBUG:--all,err+eventlog} WINEDLLOVERRIDES="mscoree,mshtml="
  unset WAYLAND_DISPLAY PHASELOCK_TOKEN
  # Wine asks for a display once, when its desktop starts.
  wine wineboot --init >"$dir/wineboot.log" 2>&1 || fail "Wine does not start"
  # The service manager that installs Wine forgets services that are made later, so start again. Debian's Wine would
  # also end its system processes between our programs.
  wineserver_of --kill
  wineserver_of --wait
  wineserver_of --persistent
  # Services inherit the standard error of the first program.
  wine cmd /c exit >"$dir/system.log" 2>&1
  drive=$dir/prefix/drive_c
}
stop_wine() { # ends all its programs
  [ "${WINEPREFIX:-}" != "$dir/prefix" ] || wineserver_of --kill
}
wineserver_of() { # FLAG: Debian's wineserver lies beside Wine's libraries
  local found
  for found in wineserver /usr/lib/wine/wineserver64 /usr/lib/*-linux-gnu/wine/wineserver64; do
    ! command -v "$found" >/dev/null || { "$found" "$1" 2>/dev/null || :; return; }
  done
}

complete_windows() { # FOLDER: puts the library that Wine lacks beside the programs in it
  # ProcessPrng over the random numbers of older versions.
  x86_64-w64-mingw32-gcc -shared -O -s -x c - -x none -ladvapi32 -o "$1/bcryptprimitives.dll" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);
BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) { return SystemFunction036(buffer, (ULONG)length); }
C
}
