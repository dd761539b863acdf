#!/bin/sh
# One POST of curl arrives six times, behind HAProxy, if the server is gone before it has answered.
#
# HAProxy 2.6.12 ends the stream of HTTP/2 with REFUSED_STREAM. That says "not processed" (RFC 9113 8.7), so that curl 7.88 sends the
# request again by itself, a POST too, without any option for retries: five times. The server has had each of them whole. Over HTTP/1.1 a
# used connection is closed without a byte, and curl sends the POST once more. `retry-on` and `option redispatch` have no part in it.
# What helps: a second hop inside HAProxy, with a connection for each request. Then it is one POST and 502.
#
# Needs Debian 12 with apt-get, dpkg, curl, openssl and Node 20. It installs nothing in the system.
set -eu
version='2.6.12-1+deb12u4'
work=$(mktemp -d)
pids=''
trap 'kill $pids 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "haproxy=$version" liblua5.3-0 >/dev/null 2>&1 || { echo "haproxy $version is not to be had any more" >&2; exit 1; }
for package in ./*.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(dirname "$(find root -name 'liblua5.3.so.0')")
export LD_LIBRARY_PATH
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -out certificate -days 1 -subj /CN=localhost 2>/dev/null
cat certificate key > both

cat > server.mjs <<'SERVER'
import { createServer } from 'node:http'
let posts = 0
createServer((request, response) => {
  if (request.url === '/posts') return response.end(`${posts}\n`)
  if (request.method !== 'POST') return response.end('read\n')
  request.resume().on('end', () => {
    posts++
    request.socket.destroy()
  })
}).listen(25101, '127.0.0.1')
SERVER
cat > haproxy.cfg <<'CONFIGURATION'
defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 2s
frontend clients
  bind 127.0.0.1:25102 ssl crt both alpn h2,http/1.1
  default_backend servers
backend servers
  server one 127.0.0.1:25101
frontend hopping
  bind 127.0.0.1:25103 ssl crt both alpn h2,http/1.1
  default_backend hop
backend hop
  http-reuse never
  server hop 127.0.0.1:25104
frontend inner
  bind 127.0.0.1:25104
  option httpclose
  default_backend servers
CONFIGURATION
node server.mjs & pids="$pids $!"
root/usr/sbin/haproxy -db -f haproxy.cfg & pids="$pids $!"
for _ in 1 2 3 4 5 6 7 8 9 10; do curl -s -o read http://127.0.0.1:25101/ && curl -sk -o read https://127.0.0.1:25102/ && break; sleep 1; done

total=0
# Says how many POSTs one POST has become, and what curl saw.
measure() {
  what=$1; expected=$2; shift 2
  seen=$(curl -sk -m 10 -w '%{http_code}' -o read "$@" || true)
  posts=$(curl -s http://127.0.0.1:25101/posts)
  echo "$what: $((posts - total)) POSTs, curl saw ${seen##*
}"
  [ $((posts - total)) -eq "$expected" ] || { echo "expected $expected" >&2; exit 1; }
  total=$posts
}
echo "HAProxy $version, $(curl --version | head -1 | cut -d' ' -f1-2)"
measure 'HTTP/2' 6 --http2 -d a=b https://127.0.0.1:25102/
measure 'HTTP/1.1, a used connection' 2 --http1.1 https://127.0.0.1:25102/ --next -sk -m 10 --http1.1 -w '\n%{http_code}' -o read -d a=b https://127.0.0.1:25102/
measure 'HTTP/2, with a second hop' 1 --http2 -d a=b https://127.0.0.1:25103/
# Seen: 6, 2 and 1 POSTs; curl saw 000, 502 and 502.
