#!/usr/bin/env bash
# Builds the image and tests it on a real engine.
#   docker/test.sh [PHASELOCK-BOTS [IMAGE]]
# PHASELOCK-BOTS is the clients' program; by default it is built. With IMAGE, no image is built: the
# engine must have this one, which is tested instead.
# Afterwards it removes everything that it made, except for the builder's cache.
set -euo pipefail

CLIENTS=4
# The server sends 30 a second; a busy machine may be late.
SNAPSHOTS_PER_S_MIN=20
# With one room and a disk that writes, only goodbyes take time: at most 4 s.
STOP_S_MAX=5
# For everything that takes a moment: far more than needed, even on a busy machine.
PATIENCE_S=60

step() { echo "== $*"; }
fail() {
    echo "docker/test.sh: $*" >&2
    exit 1
}

docker info >/dev/null 2>&1 ||
    fail "there is no docker engine to test with: start one, or say in DOCKER_HOST where it is"
bots=${1:+$(realpath -- "$1")}
image=${2:-}
cd "$(dirname "$0")/.."

# The name of the image, the volume and, followed by a number, each container.
name=phaselock-test-$$
files=$(mktemp -d)
playing=
compose=

clean_up() {
    local status=$?
    trap '' INT TERM HUP
    if [ "$status" != 0 ]; then
        local container
        for container in $(docker ps -aq --filter "name=^$name"); do
            docker logs --tail 50 "$container" >&2 || :
        done
        cat "$files"/*.err >&2 2>/dev/null || :
    fi
    step "removing everything again"
    [ -z "$playing" ] || kill "$playing" 2>/dev/null || :
    [ -z "$compose" ] || compose down --volumes --rmi local >/dev/null 2>&1 || :
    docker rm --force --volumes "$name-1" "$name-2" >/dev/null 2>&1 || :
    docker volume rm --force "$name" >/dev/null 2>&1 || :
    docker image rm --force "$name" "$name-server" >/dev/null 2>&1 || :
    rm -rf "$files"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

compose() { docker compose -p "$name" -f docker/compose.yaml "$@"; }

# start NUMBER ADDRESS: starts a container with as few rights as possible, on the volume. The address
# is one of this machine; if it ends in a colon, Docker chooses the port.
start() {
    docker run --detach --name "$name-$1" \
        --read-only --cap-drop ALL --security-opt no-new-privileges \
        --volume "$name:/data" --publish "$2:4433/udp" \
        --env PHASELOCK_LOG=json --env PHASELOCK_BOTS=2 "$name" >/dev/null
}

# until_true COMMAND...: retries until the command succeeds.
until_true() {
    local end=$((SECONDS + PATIENCE_S))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}

inspect() { docker inspect --format "$2" "$name-$1"; }
is_healthy() {
    [ "$(inspect "$1" '{{.State.Running}}')" = true ] || fail "the container has ended by itself"
    [ "$(inspect "$1" '{{.State.Health.Status}}')" = healthy ]
}
logged() { docker logs "$name-$1" 2>&1; }
is_listening() { logged "$1" | grep '"message":"listening"' >/dev/null; }
fingerprint() {
    logged "$1" | sed -n '/"message":"listening"/s/.*"fingerprint":"\([^"]*\)".*/\1/p'
}
# witnesses NUMBER MESSAGE: counts log lines with that message about the clients that stay.
witnesses() { logged "$1" | grep "\"message\":\"$2\"" | grep -c Witness || :; }
have_joined() { [ "$(witnesses "$1" joined)" = "$CLIENTS" ]; }
have_resumed() { [ "$(witnesses "$1" resumed)" = "$CLIENTS" ]; }
# rooms NUMBER: a digest of the saved rooms; fails if there are none.
rooms() {
    docker cp "$name-$1:/data/rooms" - 2>/dev/null |
        tar --extract --to-stdout --wildcards '*.room' 2>/dev/null | cksum
}
have_changed() {
    local now
    now=$(rooms "$1") && [ "$now" != "$2" ]
}
have_been_told() {
    local told='out of the game.*the server is shutting down'
    [ "$(grep -c "$told" "$files/witness.err")" = "$CLIENTS" ]
}

# play ADDRESS [FLAG...]: joins with all clients; snapshots must reach each of them. There are three
# attempts, each longer, because this machine may be busy.
play() {
    local seconds
    for seconds in 6 12 24; do
        if "$bots" "$@" --count "$CLIENTS" --seconds "$seconds" --json \
            >"$files/play.json" 2>"$files/play.err" && [ "$(figure disconnects)" = 0 ] &&
            [ "$(figure snapshots_per_s)" -ge "$SNAPSHOTS_PER_S_MIN" ]; then
            echo "   all connected, $(figure snapshots_per_s) snapshots per second each"
            return
        fi
        ! grep -q panicked "$files/play.err" || fail "a client panicked"
    done
    fail "a client was not in the game, lost it, or got too few snapshots: $(cat "$files/play.json")"
}
# join NUMBER: joins the server at $address with all clients, which stay.
join() {
    PHASELOCK_LOG_FILTER=phaselock_bots=info "$bots" "$address" --count "$CLIENTS" \
        --seconds 36000 --name Witness >/dev/null 2>"$files/witness.err" &
    playing=$!
    until_true have_joined "$1" || fail "the clients do not join"
}
leave() {
    kill "$playing"
    wait "$playing" 2>/dev/null || :
    playing=
}
# answer ADDRESS PATH [TOKEN]: prints the administration's answer to a browser on this machine.
answer() {
    local connection
    exec {connection}<>"/dev/tcp/${1%:*}/${1##*:}"
    printf 'GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n' "$2" "$1" \
        "${3:+Authorization: Bearer $3$'\r\n'}" >&"$connection"
    timeout "$PATIENCE_S" cat <&"$connection" || :
    exec {connection}>&-
}
# figure NAME: the integer part of a figure.
figure() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$files/play.json"; }

if [ -z "$bots" ]; then
    step "building the clients' program"
    bots=$(cargo build --locked --package phaselock-bots \
        --message-format json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
fi
"$bots" --version >/dev/null || fail "$bots does not run"

if [ -n "$image" ]; then
    # The second name is compose's.
    docker tag "$image" "$name" && docker tag "$image" "$name-server" || fail "there is no image $image"
else
    step "building the image (minutes, the first time)"
    # If the registry is out of reach, RUST_IMAGE names another image with Rust.
    docker build ${RUST_IMAGE:+--build-arg RUST_IMAGE="$RUST_IMAGE"} \
        --file docker/Dockerfile --tag "$name" . >"$files/build.err" 2>&1 ||
        fail "the image does not build"
    rm "$files/build.err"
fi
echo "   $(docker image inspect --format '{{.Size}}' "$name") bytes"

step "looking whether docker/compose.yaml passes all settings on"
docker run --rm "$name" config >"$files/settings" 2>"$files/settings.err" ||
    fail "it does not list its settings"
count=0
while read -r setting _; do
    # Ports are published and the volume is mounted where these are by default.
    case $setting in listen | data_dir) continue ;; esac
    variable=PHASELOCK_${setting^^}
    grep -q "^      $variable: \${$variable:-" docker/compose.yaml || fail "$variable is left out"
    count=$((count + 1))
done <"$files/settings"
[ "$count" -gt 30 ] || fail "these are not all settings: $(cat "$files/settings")"
echo "   $count settings, and the file that has them"

step "starting it read-only, without capabilities, on a new volume"
start 1 127.0.0.1:
began=$SECONDS
until_true is_healthy 1 || fail "it is not healthy after $PATIENCE_S s"
echo "   healthy after $((SECONDS - began)) s"

step "looking who runs in it"
user=$(docker image inspect --format '{{.Config.User}}' "$name")
[[ $user =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "its user is '$user', not two numbers above 0"
processes=$(docker top "$name-1" -eo pid,uid,args | tail -n +2)
[ "$(wc -l <<<"$processes")" -eq 1 ] || fail "more than the server runs: $processes"
read -r _ uid program <<<"$processes"
[ "$uid" != 0 ] || fail "it runs as root"
echo "   user $uid runs $program, and nobody anything else"

address=$(docker port "$name-1" 4433/udp | sed -n 1p)
step "playing with $CLIENTS clients from outside"
play "$address"

step "administering it from inside"
docker exec "$name-1" phaselock-server ctl status >"$files/status" 2>"$files/status.err" ||
    fail "the administration does not answer"
echo "   $(sed -n 1p "$files/status")"

step "looking at what it keeps"
docker cp "$name-1:/data" - | tar --list --verbose --numeric-owner >"$files/kept"
for file in cert.pem key.pem phaselock.db admin-token; do
    grep -q " data/$file\$" "$files/kept" || fail "there is no $file: $(cat "$files/kept")"
done
foreign=$(grep -v " ${user/:/\/} " "$files/kept") && fail "not all of it is its user's: $foreign"
for file in key.pem admin-token; do
    grep -q "^-rw------- .* data/$file\$" "$files/kept" || fail "others may read $file"
done
echo "   $(wc -l <"$files/kept") files and folders of user $user"

step "stopping it under $CLIENTS clients"
join 1
began=$SECONDS
# After this grace period, which is Docker's own, the server would be killed: exit code 137.
docker stop -t 10 "$name-1" >/dev/null
took=$((SECONDS - began))
code=$(inspect 1 '{{.State.ExitCode}}')
[ "$code" = 0 ] || fail "it ended with exit code $code after $took s"
[ "$took" -le "$STOP_S_MAX" ] || fail "it took $took s to end"
until_true have_been_told || fail "not all clients were told why"
leave
echo "   ended after $took s with exit code 0, and told everybody why"

step "replacing the container"
before=$(fingerprint 1)
docker rm "$name-1" >/dev/null
start 2 "$address"
until_true is_listening 2 || fail "the second container does not start"
after=$(fingerprint 2)
[ -n "$before" ] || fail "the log of the first container shows no certificate"
[ "$before" = "$after" ] || fail "the certificate was $before and is now $after"
echo "   same certificate, $after"

step "killing it under $CLIENTS clients"
join 2
# Rooms are saved once a second. The save that is under way may lack a client.
for _ in 1 2; do
    saved=$(rooms 2) || saved=none
    until_true have_changed 2 "$saved" || fail "no room is saved"
done
docker kill "$name-2" >/dev/null
code=$(inspect 2 '{{.State.ExitCode}}')
[ "$code" = 137 ] || fail "it ended with exit code $code rather than by being killed"
docker start "$name-2" >/dev/null
until_true have_resumed 2 || fail "not all clients have their seats again"
have_joined 2 || fail "clients joined again"
leave
echo "   started again, and all clients came back to their seats"

if docker compose version >/dev/null 2>&1; then
    step "starting docker/compose.yaml"
    compose --profile watch config --quiet 2>"$files/compose.err" ||
        fail "it is not valid with the profile watch"
    compose=started
    # The host's settings, outside of the sources.
    mkdir "$files/config"
    cp docker/config/server.toml "$files/config/"
    printf 'name = "The den"\npassword_file = "/config/password"\n' >>"$files/config/server.toml"
    echo sesame >"$files/config/password"
    chmod 755 "$files" "$files/config"
    chmod 644 "$files/config"/*
    export CONFIG_DIR=$files/config PUBLISH=127.0.0.1:0 ADMIN_PORT=0
    [ -n "$image" ] ||
        compose build ${RUST_IMAGE:+--build-arg RUST_IMAGE="$RUST_IMAGE"} >"$files/compose.err" 2>&1 ||
        fail "its image does not build"
    ctl() { compose exec -T server phaselock-server ctl "$@"; }
    compose run --rm server --check-config >"$files/compose.err" 2>&1 ||
        fail "the file with its settings has mistakes"
    # There is no certificate yet.
    ! PHASELOCK_REQUIRE_IDENTITY=true compose run --rm server >"$files/compose.err" 2>&1 ||
        fail "it starts without the certificate that it requires"
    grep -q "there is no certificate in /data, and one is required" "$files/compose.err" ||
        fail "it does not say that the certificate is missing"
    compose up --detach --wait >"$files/compose.err" 2>&1 ||
        fail "it does not come up"
    export PHASELOCK_REQUIRE_IDENTITY=true
    compose up --detach --wait >"$files/compose.err" 2>&1 ||
        fail "it does not come up with the certificate that it has made"
    step "playing with $CLIENTS clients there"
    play "$(compose port --protocol udp server 4433)" --password sesame
    step "administering it from inside"
    ctl status >"$files/status" 2>"$files/status.err" || fail "the administration does not answer"
    echo "   $(sed -n 1p "$files/status")"
    grep -q "The den" "$files/status" || fail "the file with its settings does not count"
    step "having it load its settings again"
    sed -i 's/The den/The lair/' "$files/config/server.toml"
    ctl reload >"$files/status" 2>"$files/status.err" || fail "it does not load them"
    ctl status | grep -q "The lair" || fail "they are those before: $(cat "$files/status")"
    step "opening its page from this machine"
    token=$(ctl token me viewer) || fail "it makes no token"
    admin=$(compose port server 4434)
    [[ $admin == 127.0.0.1:* ]] || fail "the administration is open to others: $admin"
    answer "$admin" / | grep -qi "^<!doctype html" || fail "there is no page"
    answer "$admin" /v1/status "$(tail -n 1 <<<"$token")" | grep -q "The lair" ||
        fail "the page's token does not count"
    echo "   the page and what it asks for are at $admin"
    step "looking at its bounds"
    server=$(compose ps --quiet server)
    bounds=$(docker inspect --format '{{with .HostConfig}}{{.Memory}} {{.PidsLimit}} {{.NanoCpus}}
{{- end}}' "$server")
    [[ $bounds =~ ^[1-9][0-9]*\ [1-9][0-9]*\ [1-9][0-9]*$ ]] ||
        fail "memory, processes or processors have no bound: $bounds"
    [ "$(docker port "$server" | cut -d' ' -f1 | sort -u | tr '\n' ' ')" = "4433/tcp 4433/udp 4434/tcp " ] ||
        fail "something else is published: $(docker port "$server")"
    ! docker port "$server" 4434/tcp | grep -v "^127\.0\.0\.1:" ||
        fail "the administration is open to others"
    [ "$(docker inspect --format '{{index .HostConfig.LogConfig.Config "max-size"}}' "$server")" = 10m ] ||
        fail "its log is not rotated"
    echo "   $bounds bytes, processes and billionths of a processor at most"
else
    step "leaving docker/compose.yaml out, for there is no docker compose"
fi
step "all is well"
