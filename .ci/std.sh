# The standard library for targets that the toolchain may lack; wasm and windows source this file.
#
# A stable toolchain brings the standard library only for its own machine. Where rustup has brought neither the
# target's (`rustup target add`) nor its source (`rustup component add rust-src`), the source comes from Debian's
# packages, and cargo builds it: of exactly this rustc's version if there is one, else together with the newer rustc
# that it belongs to. All of it is unpacked below cargo's target directory, once; nothing is installed, and root is
# not needed.

# Asked for the source after the suites that apt is configured for, from the same mirror.
MORE_SUITES=(trixie-backports)

eval "$(cargo metadata --format-version 1 --no-deps --locked | python3 -c '
import json, shlex, sys
metadata = json.load(sys.stdin)
versions = [package["rust_version"] or "0" for package in metadata["packages"]]
print("TARGET_DIR=" + shlex.quote(metadata["target_directory"]))
print("NEEDED=" + max(versions, key=lambda version: [int(part) for part in version.split(".")]))')"
started=$SECONDS

SYSROOT=$(rustc --print sysroot)
RELEASE=$(rustc -vV | sed -n 's/^release: //p')
HOST=$(rustc -vV | sed -n 's/^host: //p')
DIR=$TARGET_DIR/tools/std-$RELEASE
# Renamed to $DIR when it is complete.
NEW=$DIR.new

ours() { # COMMAND... : runs a command of apt with separate lists and archives
  "$@" -o Acquire::Retries=5 -o Dir::State::lists="$NEW/apt/lists" -o Dir::Cache="$NEW/apt/cache" \
    -o Dir::Cache::archives="$NEW/apt/debs" -o Dir::Etc::sourceparts="$NEW/apt/sources" \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
    -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=true
}

package_of() { # RELEASE PACKAGE... : PACKAGE=VERSION of the first that is of this release of Rust
  ours apt-cache madison "${@:2}" | awk -v release="$1+" \
    '!found && index($3, release) == 1 { found = $1 "=" $3 } END { if (found) print found }'
}

newer_rustc() { # A rustc of the suites that apt is configured for, and its source.
  local rustc version source
  for rustc in rustc-web rustc; do
    version=$(ours apt-cache policy "$rustc" | awk '$1 == "Candidate:" { print $2 }')
    source=$(package_of "${version%%+*}" "${rustc/rustc/rust}-src")
    if [ -n "$source" ] && dpkg --compare-versions "$version" ge "$NEEDED"; then
      echo "$rustc=$version $source"
      return
    fi
  done
}

fetch() {
  local mirror suite source newer deb libraries
  rm -rf "$NEW"
  mkdir -p "$NEW"/apt/{debs,lists,cache}/partial
  cp -rL /etc/apt/sources.list.d "$NEW/apt/sources"
  # Errors of single sources may not matter; anything missing is noticed below.
  ours apt-get update -qq || true
  source=$(package_of "$RELEASE" rust-src rust-web-src)
  newer=$(newer_rustc)
  # shellcheck disable=SC2016 # apt's own.
  mirror=$(ours apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' |
    awk 'NR == 1')
  for suite in "${MORE_SUITES[@]}"; do
    if [ -z "$source" ] && [ -n "$mirror" ]; then
      echo "deb $mirror $suite main" >"$NEW/apt/sources/more.list"
      # The suite may be gone one day.
      ours apt-get update -qq || true
      source=$(package_of "$RELEASE" rust-src)
    fi
  done

  # `root/usr` is the sysroot, where rustc and cargo look for the standard library and its source.
  mkdir -p "$NEW/root/usr"
  if [ -n "$source" ]; then
    echo "its standard library's source is $source"
    (cd "$NEW/apt/debs" && ours apt-get download -qq "$source")
    mkdir -p "$NEW/root/usr/lib/rustlib"
    ln -s "$SYSROOT/lib/rustlib/$HOST" "$NEW/root/usr/lib/rustlib/"
    printf '#!/bin/sh\nexec rustc --sysroot "%s" "$@"\n' "$DIR/root/usr" >"$NEW/rustc"
  elif [ -n "$newer" ]; then
    echo "its standard library's source is not available; $newer"
    rm -f "$NEW/apt/sources/more.list"
    # shellcheck disable=SC2086 # Two packages.
    ours apt-get install -qq -y --download-only --no-install-recommends $newer >/dev/null
    for deb in "$NEW"/apt/debs/*.deb; do
      case $deb in
      */rust-*src_*) ;;
      *) dpkg-deb -x "$deb" "$NEW/root" ;;
      esac
    done
    libraries=("$NEW"/root/usr/lib/*-linux-gnu)
    printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" exec "%s" "$@"\n' "${libraries[0]/#$NEW/$DIR}" "$DIR/root/usr/bin/rustc" \
      >"$NEW/rustc"
  else
    echo "no package has its standard library's source, and none a rustc of $NEEDED or later with its own"
    return 1
  fi
  # Only the standard library's part of the compiler's source.
  mkdir -p "$NEW/root/usr/lib/rustlib/src/rust"
  for deb in "$NEW"/apt/debs/rust-*src_*.deb; do
    dpkg-deb --fsys-tarfile "$deb" |
      tar -x -C "$NEW/root/usr/lib/rustlib/src/rust" --wildcards --strip-components=4 './usr/src/rustc-*/library'
  done
  chmod +x "$NEW/rustc"
  echo "$(du -cm "$NEW"/apt/debs/*.deb | awk 'END { print $1 }') MB of packages"
  rm -rf "$NEW/apt" "$DIR"
  mv "$NEW" "$DIR"
  echo "unpacked into $(du -sm "$DIR" | cut -f 1) MB in $((SECONDS - started)) s"
}

# standard_library TARGET CRATES: makes a standard library for TARGET available, of these crates. Sets STD, arguments
# for cargo, and exports what cargo needs to build it. Exits with 77 if there is none.
standard_library() {
  local target=$1 crates=$2 status
  STD=()
  if [ -e "$(rustc --print target-libdir --target "$target")" ]; then
    echo "with the toolchain's own standard library"
    return
  fi
  if [ ! -e "$SYSROOT/lib/rustlib/src/rust/library/Cargo.lock" ]; then
    if [ ! -x "$DIR/rustc" ]; then
      echo "rustc $RELEASE has no standard library for $target"
      # Not in a condition, which would ignore a failure inside.
      set +e
      (
        set -e
        command -v apt-get >/dev/null || { echo "there is no apt-get" && exit 1; }
        fetch
      )
      status=$?
      set -e
      if [ "$status" != 0 ]; then
        echo "NOT DONE for $target. Where rustup can download: rustup target add $target"
        exit 77
      fi
    fi
    export RUSTC=$DIR/rustc
  fi
  echo "with the standard library's source, by $("${RUSTC:-rustc}" --version)"
  # Building it is unstable on a stable toolchain. It is faster without backtraces.
  export RUSTC_BOOTSTRAP=1
  # shellcheck disable=SC2034 # For those who source this.
  STD=(-Z "build-std=$crates" -Z build-std-features=)
}
