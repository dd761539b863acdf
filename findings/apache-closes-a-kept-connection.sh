#!/bin/sh
# One POST of curl arrives twice behind Apache httpd, if the server is gone before it has answered; and six streams hold up a connection.
#
# 1. Apache 2.4 as a reverse proxy answers a server that is gone with 502, but not on a connection of HTTP/1.1 that has carried a request
#    before: that it closes without a byte, "to trigger a retry by the client if allowed" (mod_proxy_http). curl 7.88 then sends the request
#    again by itself, a POST too, without any option for retries. The server has had both whole. `KeepAlive Off` helps, or a second hop
#    inside Apache with a connection for each request (`disablereuse=on`): then it is one POST and 502.
# 2. Over HTTP/2 Apache works on six requests of a connection at first (mod_http2: `processing_limit`), and on more only as others end. Six
#    streams of server-sent events that stay open hold up each later request of the connection. `Protocols http/1.1` helps.
#
# Needs Debian 12 with apt-get, dpkg, curl, openssl and Node 20. It installs nothing in the system.
set -eu
work=$(mktemp -d)
chmod 755 "$work"
pids=''
trap 'kill $pids 2>/dev/null || true; sleep 1; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq apache2-bin libapr1 libaprutil1 liblua5.3-0 libjansson4 >/dev/null 2>&1 || { echo "apache2-bin is not to be had" >&2; exit 1; }
for package in ./*.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH=$(dirname "$(find root -name 'libapr-1.so.0')")
export LD_LIBRARY_PATH
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -out certificate -days 1 -subj /CN=localhost 2>/dev/null

cat > server.mjs <<'SERVER'
import { createServer } from 'node:http'
let posts = 0
createServer((request, response) => {
  if (request.url === '/posts') return response.end(`${posts}\n`)
  if (request.url === '/stream') return response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n')
  if (request.method !== 'POST') return response.end('read\n')
  request.resume().on('end', () => {
    posts++
    request.socket.destroy()
  })
}).listen(25201, '127.0.0.1')
SERVER
cat > streams.mjs <<'STREAMS'
import { connect } from 'node:http2'
const session = connect('https://127.0.0.1:25202', { rejectUnauthorized: false })
const answered = (path) =>
  new Promise((resolve) => {
    const stream = session.request({ ':path': path })
    stream.on('response', () => resolve(true)).on('error', () => {})
    setTimeout(resolve, 2_000, false)
  })
let open = 0
while (await answered(open < Number(process.argv[2]) ? '/stream' : '/')) if (++open > 20) break
console.log(open)
process.exit()
STREAMS
cat > httpd.conf <<CONFIGURATION
$(for module in mpm_event authz_core proxy proxy_http ssl http2 rewrite; do echo "LoadModule ${module}_module $work/root/usr/lib/apache2/modules/mod_$module.so"; done)
ServerName localhost
User www-data
Group www-data
PidFile $work/pid
DefaultRuntimeDir $work
ErrorLog $work/log
Listen 127.0.0.1:25202
Listen 127.0.0.1:25203
Listen 127.0.0.1:25204
Protocols h2 http/1.1
<Proxy http://127.0.0.1:25204>
  ProxySet disablereuse=on
</Proxy>
<VirtualHost 127.0.0.1:25202 127.0.0.1:25203>
  SSLEngine on
  SSLCertificateFile $work/certificate
  SSLCertificateKeyFile $work/key
  RewriteEngine on
  RewriteCond %{SERVER_PORT} =25203
  RewriteRule ^/(.*) http://127.0.0.1:25204/\$1 [P]
  ProxyPass / http://127.0.0.1:25201/ flushpackets=on
</VirtualHost>
<VirtualHost 127.0.0.1:25204>
  ProxyPass / http://127.0.0.1:25201/
</VirtualHost>
CONFIGURATION
node server.mjs & pids="$pids $!"
root/usr/sbin/apache2 -D FOREGROUND -f "$work/httpd.conf" & pids="$pids $!"
for _ in 1 2 3 4 5 6 7 8 9 10; do curl -s -o read http://127.0.0.1:25201/ && curl -sk -o read https://127.0.0.1:25202/ && break; sleep 1; done

total=0
# Says how many POSTs one POST has become, and what curl saw.
measure() {
  what=$1; expected=$2; shift 2
  seen=$(curl -sk -m 10 -w '\n%{http_code}' -o read "$@" || true)
  posts=$(curl -s http://127.0.0.1:25201/posts)
  echo "$what: $((posts - total)) POSTs, curl saw ${seen##*
}"
  [ $((posts - total)) -eq "$expected" ] || { echo "expected $expected" >&2; exit 1; }
  total=$posts
}
root/usr/sbin/apache2 -v | head -1
curl --version | head -1 | cut -d' ' -f1-2
measure 'HTTP/1.1, a new connection' 1 --http1.1 -d a=b https://127.0.0.1:25202/
measure 'HTTP/1.1, a used connection' 2 --http1.1 https://127.0.0.1:25202/ --next -sk -m 10 --http1.1 -w '\n%{http_code}' -o read -d a=b https://127.0.0.1:25202/
measure 'the same, with a second hop' 1 --http1.1 https://127.0.0.1:25203/ --next -sk -m 10 --http1.1 -w '\n%{http_code}' -o read -d a=b https://127.0.0.1:25203/
echo "HTTP/2: of streams that stay open, answered on one connection: $(node streams.mjs 20)"
# Seen with 2.4.71: 1, 2 and 1 POSTs; curl saw 502, 502 and 502.
