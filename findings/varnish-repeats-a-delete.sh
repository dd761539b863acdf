#!/bin/sh
# One DELETE of curl arrives twice behind Varnish, if the server is gone before it has answered.
#
# Varnish 7.1 keeps connections to a server. If a kept one ends before the first byte of an answer, Varnish sends the request once more on a
# new one, by itself and without `return (retry)`: any method, if the request has no body. The server has had both whole. A request with a
# body is not repeated (unless `std.cache_req_body` has kept it). `set bereq.http.Connection = "close"` in vcl_backend_fetch helps: no
# connection is used twice.
#
# Needs Debian 12 with apt-get, dpkg, a C compiler, curl and Node 20. It installs nothing in the system.
set -eu
work=$(mktemp -d)
chmod 755 "$work"
pids=''
trap 'kill $pids 2>/dev/null || true; sleep 1; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq varnish libvarnishapi3 libjemalloc2 >/dev/null 2>&1 || { echo "varnish is not to be had" >&2; exit 1; }
for package in ./*.deb; do dpkg -x "$package" root; done
libraries=$(dirname "$(find root -name 'libvarnishapi.so.3')")
LD_LIBRARY_PATH=$libraries:$libraries/varnish
export LD_LIBRARY_PATH

cat > server.mjs <<'SERVER'
import { createServer } from 'node:http'
let changes = 0
createServer((request, response) => {
  if (request.url === '/changes') return response.end(`${changes}\n`)
  if (request.method === 'GET') return response.end('read\n')
  request.resume().on('end', () => {
    changes++
    request.socket.destroy()
  })
}).listen(25301, '127.0.0.1')
SERVER
for name in kept fresh; do
  cat > "$name.vcl" <<VCL
vcl 4.1;
backend server { .host = "127.0.0.1"; .port = "25301"; }
sub vcl_recv { return (pass); }
sub vcl_backend_fetch {
  $([ "$name" = fresh ] && echo 'set bereq.http.Connection = "close";')
  return (fetch);
}
VCL
done
node server.mjs & pids="$pids $!"
root/usr/sbin/varnishd -j none -F -f "$work/kept.vcl" -a 127.0.0.1:25302 -n "$work/kept" -s malloc,16m >log 2>&1 & pids="$pids $!"
root/usr/sbin/varnishd -j none -F -f "$work/fresh.vcl" -a 127.0.0.1:25303 -n "$work/fresh" -s malloc,16m >>log 2>&1 & pids="$pids $!"
for _ in 1 2 3 4 5 6 7 8 9 10; do curl -sf -o read http://127.0.0.1:25302/ && curl -sf -o read http://127.0.0.1:25303/ && break; sleep 1; done

total=0
# Says how many requests one request has become, and what curl saw.
measure() {
  what=$1; expected=$2; port=$3; shift 3
  curl -s -o read "http://127.0.0.1:$port/"
  seen=$(curl -s -m 10 -w '%{http_code}' -o read "$@" "http://127.0.0.1:$port/" || true)
  changes=$(curl -s http://127.0.0.1:25301/changes)
  echo "$what: $((changes - total)) requests, curl saw $seen"
  [ $((changes - total)) -eq "$expected" ] || { echo "expected $expected" >&2; exit 1; }
  total=$changes
}
root/usr/sbin/varnishd -V 2>&1 | head -1
measure 'a DELETE' 2 25302 -X DELETE
measure 'a POST without a body' 2 25302 -X POST
measure 'a POST with a body' 1 25302 -d a=b
measure 'a DELETE, with no connection used twice' 1 25303 -X DELETE
# Seen with 7.1.1: 2, 2, 1 and 1 requests; curl saw 503 each time.
