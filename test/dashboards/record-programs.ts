/**
 * Records what needs more than gateways and their stores, as `record.ts` does the rest: small disks, a certificate, HAProxy, PostgreSQL of its
 * own with the exporter beside it, and a process that is killed. Needs root, for the disks.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { haproxyFile } from '../deploy/balancers.ts'
import { ContainerRoot } from '../deploy/container-root.ts'
import buildBundle from '../support/bundle.ts'
import { certify } from '../support/certificate.ts'
import { sendRequest } from '../support/client.ts'
import { freePort } from '../support/free-port.ts'
import { execute, initialise, startServer, stopServer } from '../support/postgres-server.ts'
import { programOf } from '../support/program.ts'
import { nodeExporterProgram } from '../support/prometheus-program.ts'
import { repeating } from './event.ts'
import { writeCase } from './recorded-case.ts'
import { Recorder } from './recorder.ts'
import { type Site, startSite } from './world.ts'

const cleanTicks = 20
const faultyTicks = 60
const day = 86_400_000
const recorder = new Recorder(15)

const removeBundle = await buildBundle()
{
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-record-'))
  chmodSync(directory, 0o755)
  open.defer(async () => rmSync(directory, { recursive: true }))
  const disk = (name: string, megabytes: number): string => {
    const place = join(directory, name)
    mkdirSync(place)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=777`, 'tmpfs', place])
    open.defer(async () => void execFileSync('umount', ['--lazy', place]))
    return place
  }
  const ending = (child: ChildProcess): ChildProcess => {
    open.defer(async () => {
      if (child.exitCode !== null || !child.kill('SIGKILL')) return
      await once(child, 'exit')
    })
    return child
  }
  const site = async (name: string, facts: Partial<Parameters<typeof startSite>[1]> = {}): Promise<Site> => {
    const started = await startSite(directory, { name, form: 'B', ...facts }, open)
    recorder.add(name, started.gateway.adminUrl)
    return started
  }
  let quotes = 0
  const quote = ({ gateway }: Site) =>
    sendRequest(gateway.url, { path: `/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=2.${++quotes}` })

  const killed = await site('killed')

  const small = disk('small-disk', 64)
  await site('small', { ledger: `sqlite:${join(small, 'ledger.db')}` })
  /** Something else writes to it. */
  const fill = (place: string): void => {
    const { bavail, bsize } = statfsSync(place)
    writeFileSync(join(place, 'dump'), Buffer.alloc(Math.round(bavail * bsize * 0.95)))
  }

  const authority = certify({ name: 'Authority', until: new Date(Date.now() + 1_000 * day) })
  const authorityFile = join(directory, 'authority.pem')
  writeFileSync(authorityFile, authority.cert)
  process.env.NODE_EXTRA_CA_CERTS = authorityFile
  const certificate = (days: number) => certify({ name: 'localhost', issuer: authority, until: new Date(Date.now() + days * day) })
  const front = createServer(certificate(60))
  const encrypted = await site('encrypted', {
    async inFront(url) {
      front.on('request', async (incoming, outgoing) => {
        const target = new URL(incoming.url ?? '', url)
        const headers = { accept: 'application/json' }
        const { statusCode, headers: received, body } = await request(target, { headers })
        outgoing.writeHead(statusCode, { 'content-type': String(received['content-type']) }).end(await body.text())
      })
      front.listen(0, '127.0.0.1')
      await once(front, 'listening')
      open.defer(async () => {
        front.closeAllConnections()
        front.close()
      })
      return `https://localhost:${(front.address() as AddressInfo).port}${new URL(url).pathname}`
    },
  })
  delete process.env.NODE_EXTRA_CA_CERTS

  const balanced = await site('balanced')
  const containerRoot = open.use(new ContainerRoot())
  containerRoot.prepare('no-key')
  const operators = await freePort(32_000, 2_000)
  const places = [balanced.gateway, balanced.gateway]
  const [api, admin, inner] = [await freePort(34_000, 2_000), await freePort(36_000, 1_000), await freePort(37_000, 1_000)]
  const balancerText = haproxyFile({ api, operators, admin, once: inner }, places)
  const haproxy = await programOf({ names: ['haproxy'], package: 'haproxy' })
  ending(spawn(haproxy, ['-db', '-f', containerRoot.write('haproxy.cfg', balancerText)], { stdio: 'ignore' }))
  recorder.add('balancer', `http://127.0.0.1:${operators}`, { job: 'balancer' })

  const ledgerDisk = disk('ledger-disk', 512)
  const data = join(ledgerDisk, 'data')
  initialise(ledgerDisk, data)
  const postgres = await startServer(ledgerDisk, data, ['max_wal_size=64MB', 'min_wal_size=32MB', 'checkpoint_timeout=30s'])
  open.defer(() => stopServer(postgres))
  const exporterPort = await freePort(38_000, 2_000)
  const exporterOptions = [
    '--collector.disable-defaults',
    '--collector.filesystem',
    `--web.listen-address=127.0.0.1:${exporterPort}`,
  ]
  const everyMount = '--collector.filesystem.mount-points-exclude=^$'
  ending(spawn(await nodeExporterProgram(), [...exporterOptions, everyMount], { stdio: 'ignore' }))
  recorder.add('postgres', `http://127.0.0.1:${exporterPort}`, {
    job: 'ledger-disk',
    // As metric_relabel_configs do in deploy/prometheus.yaml.
    relabel: (labels) => (labels.includes(`"${ledgerDisk}"`) ? labels.replace(ledgerDisk, '/var/lib/postgresql') : undefined),
  })

  const ticks = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left--) {
      const next = performance.now() + 1_000
      await recorder.next()
      await delay(Math.max(0, next - performance.now()))
    }
  }
  const stopQuotes = repeating(500, () => quote(encrypted))
  // A usual load: what is old in the log is removed with each checkpoint.
  await execute(postgres.url, 'create table filler as select repeat(md5(g::text), 30) as text from generate_series(1, 20000) as g')
  const stopWrites = repeating(300, () => execute(postgres.url, 'update filler set text = md5(text)'))
  await delay(5_000)
  await ticks(cleanTicks)

  const faultAt = recorder.tick
  fill(small)
  front.setSecureContext(certificate(10))
  front.closeAllConnections()
  await balanced.gateway.kill()
  // A replica that is gone, and its slot is not: the log grows without an end.
  await execute(postgres.url, "select pg_create_physical_replication_slot('forgotten', true)")
  const stopKills = repeating(1_000, async () => {
    await killed.gateway.kill()
    await killed.gateway.start()
  })
  await ticks(faultyTicks)
  await Promise.all([stopKills(), stopWrites(), stopQuotes()])

  const instancesOf = {
    SwapgateCrashLoop: ['killed'],
    SwapgateLedgerDiskFull: ['small'],
    SwapgateLedgerServerDiskFull: ['postgres'],
    SwapgateCertificateExpires: ['encrypted'],
    SwapgateBalancerDown: ['balancer'],
  }
  for (const [alert, instances] of Object.entries(instancesOf))
    await writeCase(alert, recorder, { from: 0, to: recorder.tick, instances, faultAt })
}
removeBundle?.()
process.exit()
