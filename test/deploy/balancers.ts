/** The balancers whose files are in `deploy/`, as programs of the machine in front of two gateways on loopback. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { type Program, programOf } from '../support/program.ts'
import { gateways, readDeploy } from './compose.ts'
import { ContainerRoot } from './container-root.ts'

/** Where a gateway is. */
export interface Place {
  readonly url: string
  readonly adminUrl: string
}

interface Kind extends Program {
  readonly options: (file: string) => readonly string[]
  readonly file: (port: number, places: readonly Place[]) => Promise<string>
}

const kinds = {
  haproxy: {
    names: ['haproxy'],
    package: 'haproxy',
    options: (file) => ['-db', '-f', file],
    async file(api, places) {
      const [operators, admin, once] = [await freePort(32_000, 2_000), await freePort(34_000, 2_000), await freePort(36_000, 2_000)]
      return haproxyFile({ api, operators, admin, once }, places)
    },
  },
  nginx: {
    names: ['nginx'],
    package: 'nginx-light',
    options: (file) => ['-c', file, '-g', `daemon off; pid ${file}.pid;`, '-e', `${file}.errors`],
    file: async (port, places) => placed('nginx.conf', places).replace('listen 8443', `listen 127.0.0.1:${port}`),
  },
  caddy: {
    names: ['caddy'],
    package: 'caddy',
    options: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
    async file(port, places) {
      const adminPort = new URL(places[0]?.adminUrl ?? '').port
      return placed('Caddyfile', places).replace(':8443 {', `:${port} {\n\tbind 127.0.0.1`).replace('9090', adminPort)
    },
  },
} satisfies Record<string, Kind>

export type BalancerName = keyof typeof kinds
export const balancerNames = Object.keys(kinds) as BalancerName[]

export interface Balancer extends AsyncDisposable {
  /** By `localhost`. */
  readonly url: string
}

/** It accepts connections. Places of Caddy have one port for admin. */
export async function startBalancer(name: BalancerName, places: readonly Place[]): Promise<Balancer> {
  await using open = new AsyncDisposableStack()
  const containerRoot = open.use(new ContainerRoot())
  containerRoot.prepare('no-key')
  const kind: Kind = kinds[name]
  const port = await freePort(20_000, 8_000)
  const file = containerRoot.write(`balancer-of-${name}`, await kind.file(port, places))
  // Debian's packages would start them as services.
  process.env.RUNLEVEL = '1'
  const log = containerRoot.at('log')
  const [out, env] = [openSync(log, 'a'), { ...process.env, HOME: containerRoot.root }]
  const child = spawn(await programOf(kind), kind.options(file), { stdio: ['ignore', out, out], env })
  open.defer(async () => {
    if (child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  for (const deadline = Date.now() + 10_000; !(await isListening(port)); await delay(20))
    if (Date.now() > deadline || child.exitCode !== null) throw new Error(`${name} did not start: ${readFileSync(log, 'utf8')}`)
  const ending = open.move()
  return { url: `https://localhost:${port}`, [Symbol.asyncDispose]: () => ending.disposeAsync() }
}

interface HaproxyPorts {
  readonly api: number
  readonly operators: number
  readonly admin: number
  readonly once: number
}

/** `haproxy.cfg` with these ports. */
export function haproxyFile({ api, operators, admin, once }: HaproxyPorts, places: readonly Place[]): string {
  const withChecks = places.reduce((text, { url, adminUrl }, at) => {
    const ofOperators = new URL(adminUrl)
    return text
      .replace(` ${gateways[at]}:8080`, ` ${new URL(url).host} port ${ofOperators.port}`)
      .replace(` ${gateways[at]}:9090`, ` ${ofOperators.host}`)
  }, readDeploy('haproxy.cfg'))
  const binds = { 8443: api, 8405: operators, 8406: admin }
  return withChecks
    .replaceAll(/bind :(\d+)/g, (_, port) => `bind 127.0.0.1:${binds[port as '8443']}`)
    .replaceAll('127.0.0.1:8480', `127.0.0.1:${once}`)
}

function placed(file: string, places: readonly Place[]): string {
  return places.reduce((text, { url }, at) => text.replace(`${gateways[at]}:8080`, new URL(url).host), readDeploy(file))
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}
