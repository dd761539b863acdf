/**
 * What `deploy/compose.yaml` describes, without containers: two real gateways, HAProxy and Redis with the files and the commands
 * that stand there. Only addresses are others, and PostgreSQL is the one of the tests.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter } from 'node:path'
import { promisify } from 'node:util'
import { Agent } from 'undici'
import { startProvider } from '../checker/provider.ts'
import { freePorts } from '../container/ports.ts'
import { Swapgate } from '../process/swapgate.ts'
import { freePort } from '../support/free-port.ts'
import { startPostgres } from '../support/postgres.ts'
import { programOf } from '../support/program.ts'
import { redisProgram } from '../support/redis-program.ts'
import { haproxyFile } from './balancers.ts'
import { gateways, readDeploy, serviceOf } from './compose.ts'
import { ContainerRoot } from './container-root.ts'

const run = promisify(execFile)
const providerKey = 'provider-key-1'
const assets = 'config/assets.yaml'

export interface Stack extends AsyncDisposable {
  readonly gateways: readonly Swapgate[]
  /** Of the balancer. */
  readonly url: string
  readonly operatorsUrl: string
  /** Of the operator's page and API. */
  readonly adminUrl: string
  readonly operatorToken: string
  /** Takes the balancer's certificate. */
  readonly dispatcher: Agent
  /** A new key of this account. */
  readonly issueKey: (account: string) => Promise<string>
  /** The exit code of the balancer's own health check. */
  readonly health: () => number | null
}

/** Everything responds. */
export async function startStack(): Promise<Stack> {
  await using open = new AsyncDisposableStack()
  const containerRoot = open.use(new ContainerRoot())
  containerRoot.prepare(providerKey)
  const ports = await freePorts()
  open.use(await startRedis(containerRoot, ports.sandbox))
  const provider = open.use(
    await startProvider({ form: 'A', name: 'main', keys: [providerKey], journal: containerRoot.at('journal') }),
  )
  const postgres = await startPostgres()
  open.defer(() => postgres.close())
  containerRoot.copy('app/config/assets.yaml', assets)
  const ledger = await postgres.createDatabase()
  const file = containerRoot.write('etc/swapgate/gateway.yaml', gatewayFile(ports.sandbox, ledger))
  const env = { PROVIDER_FORM: 'A', PROVIDER_EXTRA_IDS: 'true', PROVIDER_URL: provider.url }
  const running = gateways.map(() => open.use(new Swapgate(['start', '--config', file], { env })))
  const urls = await Promise.all(running.map((gateway) => gateway.urls()))
  const adminPort = await freePort(32_000, 4_000)
  const places = urls.map((each) => ({ url: each.get('gateway') ?? '', adminUrl: each.get('admin') ?? '' }))
  const onceProxy = await freePort(36_000, 4_000)
  const balancer = haproxyFile({ api: ports.gateway, operators: ports.admin, admin: adminPort, once: onceProxy }, places)
  const haproxy = await programOf({ names: ['haproxy'], package: 'haproxy' })
  open.use(processOf(spawn(haproxy, ['-db', '-f', containerRoot.write('haproxy.cfg', balancer)], { stdio: 'ignore' })))
  const ca = readFileSync(containerRoot.at('run/secrets/certificate'), 'utf8').replace(/-+BEGIN PRIVATE KEY.*/s, '')
  const dispatcher = new Agent({ connect: { ca } })
  open.defer(() => dispatcher.close())
  const ending = open.move()
  return {
    gateways: running,
    url: `https://localhost:${ports.gateway}`,
    operatorsUrl: `http://127.0.0.1:${ports.admin}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    operatorToken: readFileSync(containerRoot.at('run/secrets/operator_token'), 'utf8').trim(),
    dispatcher,
    async issueKey(account) {
      const args = ['src/cli/swapgate.js', 'keys', 'create', '--name', account, '--json', '--config', file]
      const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...env } })
      return JSON.parse(stdout).key
    },
    health: () => healthOf('balancer', (text) => text.replace('8405', String(ports.admin))),
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  }
}

function gatewayFile(redisPort: number, ledger: string): string {
  const text = readDeploy('gateway.yaml')
  const moved = text.replaceAll('host: 0.0.0.0', 'host: 127.0.0.1\n  port: 0').replace('redis:6379', `127.0.0.1:${redisPort}`)
  return moved.replace(/postgres:\/\/[^"]+/, () => ledger)
}

/** By the command of compose.yaml, after its shell. */
async function startRedis(containerRoot: ContainerRoot, port: number): Promise<AsyncDisposable> {
  mkdirSync(containerRoot.at('bin'))
  mkdirSync(containerRoot.at('data'))
  symlinkSync(await redisProgram(), containerRoot.at('bin/redis-server'))
  const [script = ''] = serviceOf('redis').command ?? []
  const settings = `dir ${containerRoot.at('data')}\nbind 127.0.0.1\nport ${port}`
  const command = containerRoot.move(script.replaceAll('$$', '$')).replace('dir /data', settings)
  const env = { ...process.env, PATH: [containerRoot.at('bin'), process.env.PATH].join(delimiter) }
  return processOf(spawn('sh', ['-c', command], { env, stdio: ['ignore', 'ignore', 'inherit'] }))
}

function healthOf(service: string, move: (text: string) => string): number | null {
  const [, program = '', ...args] = serviceOf(service).healthcheck?.test ?? []
  return spawnSync(program, args.map(move)).status
}

function processOf(child: ChildProcess): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
    },
  }
}
