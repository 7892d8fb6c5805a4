#!/bin/bash
# run.sh - starts the three services, each under `venturi run`, sends three requests, and shows the traces that came of it.
#
#   examples/services/run.sh [BUILD [FOLDER]]      where Venturi was built (build), and where recordings and the page go (build/demo)
#
# VENTURI_PYTHON names the Python of the classifier: one that has the package `venturi`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
folder=${2:-$build/demo}
venturi=$build/venturi
key=demo-secret
pids=()

stop() # the services, by pid, and waits until their recordings are whole
{
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || :; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || :; done
    pids=()
}
trap stop EXIT
export no_proxy=127.0.0.1

start() # a name for its recording, then the service and its arguments; sets $port to where it listens
{
    local name=$1
    shift
    : >"$folder/$name.port"
    "$venturi" run -o "$folder/$name.vt" --force -- "$@" >"$folder/$name.port" 2>"$folder/$name.log" &
    pids+=($!)
    for _ in {1..300}; do
        port=$(cat "$folder/$name.port")
        [ -n "$port" ] && break
        if ! kill -0 $! 2>/dev/null; then
            cat "$folder/$name.log" >&2
            exit 1
        fi
        sleep 0.1
    done
    [ -n "$port" ] || { echo "run.sh: $name does not say its port" >&2; exit 1; }
    rm "$folder/$name.port"
    printf '  %-10s 127.0.0.1:%s\n' "$name" "$port"
}

show() # prints a command as the user would type it, then runs it
{
    printf '\n$ %s\n' "${*/#$venturi/venturi}"
    "$@"
}

request() # sends one that is traced; sets $id to the trace's
{
    local code=0
    show "$venturi" trace request --profile $key "$url/alerts/$1" 2>"$folder/request.log" || code=$?
    cat "$folder/request.log"
    [ $code = 0 ] || echo "exit code $code: the service answered that it could not"
    id=$(sed -n 's/^venturi: trace \([^,]*\),.*/\1/p' "$folder/request.log")
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
echo "three services:"
start south "$build/examples/services/catalog" south "$here/services.conf"
start north "$build/examples/services/catalog" north "$here/services.conf" "$port"
PYTHONPATH=$build/python${PYTHONPATH:+:$PYTHONPATH} start classifier "${VENTURI_PYTHON:-python3}" "$here/classifier.py" "$here/services.conf" "$port"
url=http://127.0.0.1:$port

# Without the secret: answered, not traced. With it: the trace goes through all three. The last one fails on its way.
show curl -sS "$url/alerts/mira"
request nova
nova=$id
request glitch
stop

cd "$folder"
files=(classifier.vt north.vt south.vt)
show "$venturi" trace list "${files[@]}"
show "$venturi" trace show "$nova" "${files[@]}"
show "$venturi" trace show "$id" "${files[@]}"
show "$venturi" trace show "$nova" "${files[@]}" --html --out trace.html --force
rm classifier.log north.log south.log request.log
