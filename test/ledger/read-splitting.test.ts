/** docs/contract-operators.md §10.4: reads that a proxy sends to a standby, two seconds behind. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readJournal } from '../checker/provider/journal.ts'
import { Gateways } from '../process/gateways.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { freePort } from '../support/free-port.ts'
import { memoryDirectory } from '../support/memory-directory.ts'
import { canFailOver, startPostgresServers } from '../support/postgres-failover.ts'
import { execute, until } from '../support/postgres-server.ts'
import { programOf } from '../support/program.ts'

/** The URL of pgpool-II, which sends every read that it may to the standby. */
async function startPgpool(primary: string, standby: string): Promise<string> {
  const program = await programOf({ names: ['pgpool', '/usr/sbin/pgpool'], package: 'pgpool2' })
  const directory = mkdtempSync(join(memoryDirectory(), 'swapgate-pgpool-'))
  chmodSync(directory, 0o777)
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const [port, control] = [await freePort(20_000, 8_000), await freePort(28_000, 4_000)]
  const backend = (number: number, url: string, weight: number): readonly string[] => [
    `backend_hostname${number} = '127.0.0.1'`,
    `backend_port${number} = ${new URL(url).port}`,
    `backend_weight${number} = ${weight}`,
  ]
  const settings = file(
    'pgpool.conf',
    [
      "backend_clustering_mode = 'streaming_replication'",
      "listen_addresses = '127.0.0.1'",
      `port = ${port}`,
      `pcp_port = ${control}`,
      ...['socket_dir', 'unix_socket_directories', 'pcp_socket_dir', 'wd_ipc_socket_dir', 'logdir'].map(
        (name) => `${name} = '${directory}'`,
      ),
      `pid_file_name = '${join(directory, 'pid')}'`,
      ...backend(0, primary, 0),
      ...backend(1, standby, 1),
      "sr_check_user = 'postgres'",
      "sr_check_database = 'postgres'",
      'num_init_children = 32',
      '',
    ].join('\n'),
  )
  const hosts = file('pool_hba.conf', 'host all all 127.0.0.1/32 trust\n')
  const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const child = spawn(program, ['-n', '-f', settings, '-F', file('pcp.conf', ''), '-a', hosts], {
    ...identity,
    cwd: '/',
    stdio: 'ignore',
  })
  onTestFinished(async () => {
    child.kill('SIGINT')
    await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(undefined)))
    rmSync(directory, { recursive: true })
  })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const readsStandby = 'SELECT current_setting($$transaction_read_only$$) AS read_only'
  await until(async () => (await execute(url, readsStandby))[0].read_only === 'on')
  return url
}

test.runIf(canFailOver)(
  'a swap that was just created is 200 at each gateway, its key is repeated, and the start and the log say where reads go',
  { timeout: 120_000 },
  async () => {
    const servers = await startPostgresServers(['recovery_min_apply_delay=2s'])
    onTestFinished(servers.close)
    await using gateways = await Gateways.prepare({ ledger: { url: await startPgpool(servers.primary, servers.standby) } })
    const [one, other] = [await gateways.startInProcess(), await gateways.startInProcess()]
    for (const { output } of [one, other]) expect(output.match(/reads lack what was just written/g)?.length).toBeGreaterThan(0)
    const acme = await gateways.customer('acme', 'A')
    for (const idempotencyKey of ['first', 'second', 'third']) {
      const order = gateways.order()
      const made = (await acme.create(one.url, order, { idempotencyKey })) as ReceivedResponse
      const { id } = made.json as { readonly id: string }
      const got = await acme.get(other.url, id)
      const repeated = await acme.create(other.url, order, { idempotencyKey })
      expect([made.status, got?.status, repeated?.status, repeated?.text]).toEqual([201, 200, 201, made.text])
      expect((await acme.get(other.url, `${id}x`))?.status).toBe(404)
    }
    const sent = readJournal(gateways.provider.settings.journal).filter(({ what }) => what === 'applied')
    expect(sent).toHaveLength(3)
  },
)
