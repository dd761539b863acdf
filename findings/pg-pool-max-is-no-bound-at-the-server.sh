#!/bin/sh
# A pg.Pool with `max: 2` has ten sessions at PostgreSQL, if commits wait for a synchronous standby that is away.
#
# pg 8.23.1 gives a statement up after `query_timeout`, and its pool closes the connection and opens another. The server does not notice:
# a commit that waits for its standby (PostgreSQL 15) reads nothing from its connection, and `statement_timeout` has ended before it. So
# each try leaves one more session, until `max_connections`. What is tempting then makes it worse: pg_cancel_backend lets the commit
# succeed with a warning alone, its row is visible, and the standby does not have it. pg_terminate_backend has the same effect.
# What helps: keep the connection, and its place, until the server has answered; take a notice of SyncRepWaitForLSN for no commit.
#
# Needs Debian 12 with apt-get and dpkg, Node 20 and npm. It installs nothing in the system; as root it runs the server as nobody.
set -eu
version='15.20-0+deb12u1'
work=$(mktemp -d)
trap '[ ! -f "$work/data/postmaster.pid" ] || kill -QUIT "$(head -1 "$work/data/postmaster.pid")"; sleep 1; rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "postgresql-15=$version" "libpq5=$version" libldap-2.5-0 libxml2 libicu72 libllvm14 libxslt1.1 >/dev/null 2>&1 ||
  { echo "postgresql-15 $version is not to be had any more" >&2; exit 1; }
for package in ./*.deb; do dpkg -x "$package" root; done
LD_LIBRARY_PATH="$work/root/usr/lib/$(uname -m)-linux-gnu"
export LD_LIBRARY_PATH
npm install --silent --no-audit --no-fund pg@8.23.1
mkdir data run
as=''
if [ "$(id -u)" -eq 0 ]; then
  chmod 755 "$work"
  chown nobody data run
  as='setpriv --reuid=nobody --regid=nogroup --clear-groups'
fi
bin="$work/root/usr/lib/postgresql/15/bin"
$as "$bin/initdb" -D data -A trust -U postgres --no-sync >/dev/null
$as "$bin/postgres" -D data -p 25111 -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off > run/log 2>&1 &

cat > measure.mjs <<'MEASURE'
import pg from 'pg'
const connection = { host: '127.0.0.1', port: 25111, user: 'postgres', database: 'postgres' }
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const one = async () => {
  for (let n = 0; ; n++) {
    const client = new pg.Client(connection)
    try {
      await client.connect()
      return client
    } catch (reason) {
      if (n > 50) throw reason
      await pause(200)
    }
  }
}
const person = await one()
await person.query('create table swaps (id int)')
await person.query("alter system set synchronous_standby_names = 'away'")
await person.query('select pg_reload_conf()')
await pause(500)
const pool = new pg.Pool({ ...connection, max: 2, query_timeout: 300, statement_timeout: 300, application_name: 'pool' })
for (let n = 0; n < 10; n++) await pool.query('insert into swaps values ($1)', [n]).catch(() => {})
await pause(500)
const waiting = "from pg_stat_activity where application_name = 'pool' and wait_event = 'SyncRep'"
const { rows } = await person.query(`select pid ${waiting}`)
console.log(`max: 2, and ${rows.length} sessions at the server`)
const patient = await one()
let notice
patient.on('notice', ({ routine }) => (notice = routine))
const inserting = patient.query('insert into swaps values (99)')
await pause(500)
await person.query("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and query like '%(99)'")
const { rowCount } = await inserting
const visible = (await person.query('select from swaps where id = 99')).rows.length
console.log(`a cancelled commit: ${rowCount} row inserted, notice of ${notice}, ${visible} row visible`)
await person.query(`select pg_terminate_backend(pid) ${waiting}`)
await pause(500)
const after = (await person.query('select from swaps where id < 10')).rows.length
console.log(`after pg_terminate_backend: ${after} rows visible, and no standby has one`)
process.exit(rows.length === 10 && rowCount === 1 && notice === 'SyncRepWaitForLSN' && visible === 1 && after === 10 ? 0 : 1)
MEASURE
node measure.mjs
# Seen: 10 sessions; 1 row inserted, notice of SyncRepWaitForLSN, 1 row visible; 10 rows visible.
