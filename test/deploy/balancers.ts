/** The balancers whose files are in `deploy/`, as programs of the machine in front of two gateways on loopback. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
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

interface Command extends Program {
  readonly args: readonly string[]
  readonly port: number
}

/** Its programs, from the inside out. `write`: puts a text into a file of this name. */
type Kind = (port: number, places: readonly Place[], write: (name: string, text: string) => string) => Promise<readonly Command[]>

const kinds = {
  async haproxy(api, places, write) {
    const [operators, admin, once] = [await freePort(32_000, 2_000), await freePort(34_000, 2_000), await freePort(36_000, 2_000)]
    const file = write('haproxy.cfg', haproxyFile({ api, operators, admin, once }, places))
    return [{ names: ['haproxy'], package: 'haproxy', port: api, args: ['-db', '-f', file] }]
  },
  async nginx(port, places, write) {
    const file = write('nginx.conf', placed('nginx.conf', places).replace('listen 8443', `listen 127.0.0.1:${port}`))
    const args = ['-c', file, '-g', `daemon off; pid ${file}.pid;`, '-e', `${file}.errors`]
    return [{ names: ['nginx'], package: 'nginx-light', port, args }]
  },
  async caddy(port, places, write) {
    const text = placed('Caddyfile', places).replace(':8443 {', `:${port} {\n\tbind 127.0.0.1`)
    const file = write('Caddyfile', text.replaceAll('9090', adminPortOf(places)))
    return [{ names: ['caddy'], package: 'caddy', port, args: ['run', '--config', file, '--adapter', 'caddyfile'] }]
  },
  async varnish(port, places, write) {
    const inner = await freePort(32_000, 2_000)
    const behind = `127.0.0.1:${inner}`
    const text = places.reduce((vcl, { url }, at) => {
      const { hostname, port: ofApi } = new URL(url)
      return vcl
        .replaceAll(`"${gateways[at]}"`, `"${hostname}"`)
        .replace('"8080"', `"${ofApi}"`)
        .replace('"9090"', `"${adminPortOf(places)}"`)
    }, readDeploy('varnish.vcl'))
    const file = write('varnish.vcl', text)
    const [, ofVarnish = '', ofHitch = ''] = /^#\s+varnishd (.*)\n#\s+hitch (.*)$/m.exec(readFileSync(file, 'utf8')) ?? []
    const options = ofVarnish.replace('varnish.vcl', file).replace('127.0.0.1:6086', behind).split(' ')
    const ofTls = ofHitch
      .replaceAll("'", '')
      .replace('[*]:8443', `[127.0.0.1]:${port}`)
      .replace('[127.0.0.1]:6086', `[127.0.0.1]:${inner}`)
    // It refuses to stay root.
    const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : []
    return [
      {
        names: ['varnishd'],
        package: 'varnish',
        port: inner,
        args: [...options, '-n', `${file}.d`, '-s', 'malloc,32m', '-j', 'none'],
      },
      { names: ['hitch'], package: 'hitch', port, args: [...user, ...ofTls.split(' ')] },
    ]
  },
  async apache(port, places, write) {
    const inner = await freePort(32_000, 2_000)
    const text = placed('apache.conf', places)
      .replace('Listen 8443', `Listen 127.0.0.1:${port}`)
      .replace('*:8443', `127.0.0.1:${port}`)
      .replaceAll('127.0.0.1:8480', `127.0.0.1:${inner}`)
    const [, enabled = ''] = /a2enmod (.*)$/m.exec(text) ?? []
    const modules = ['mpm_event', 'authz_core', 'proxy', 'slotmem_shm', ...enabled.split(' ')].map(
      (name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`,
    )
    const file = write('apache.conf', text)
    const own = [
      'User www-data',
      'Group www-data',
      'ServerName localhost',
      'ErrorLog /dev/stderr',
      `PidFile ${file}.pid`,
      `DefaultRuntimeDir ${dirname(file)}`,
    ]
    const main = write('httpd.conf', `${modules.join('')}${own.join('\n')}\nInclude ${file}\n`)
    return [{ names: ['apache2'], package: 'apache2', port, args: ['-D', 'FOREGROUND', '-f', main] }]
  },
} satisfies Record<string, Kind>

export type BalancerName = keyof typeof kinds
export const balancerNames = Object.keys(kinds) as BalancerName[]

/** They see that a client has left when they write to it: with the comments of a stream. */
export const seeLeavingLate: ReadonlySet<BalancerName> = new Set<BalancerName>(['varnish', 'apache'])

export interface Balancer extends AsyncDisposable {
  /** By `localhost`. */
  readonly url: string
}

/** It accepts connections. The places have one port for admin. */
export async function startBalancer(name: BalancerName, places: readonly Place[]): Promise<Balancer> {
  await using open = new AsyncDisposableStack()
  const containerRoot = open.use(new ContainerRoot())
  containerRoot.prepare('no-key')
  const kind: Kind = kinds[name]
  const port = await freePort(20_000, 8_000)
  const commands = await kind(port, places, (file, text) => containerRoot.write(file, text))
  // Debian's packages would start them as services.
  process.env.RUNLEVEL = '1'
  const log = containerRoot.at('log')
  const [out, env] = [openSync(log, 'a'), { ...process.env, HOME: containerRoot.root }]
  for (const command of commands) {
    const child = spawn(await programOf(command), command.args, { stdio: ['ignore', out, out], env, detached: true })
    open.defer(async () => {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      process.kill(-(child.pid as number), 'SIGKILL')
      await ended
    })
    for (const deadline = Date.now() + 20_000; !(await isListening(command.port)); await delay(20))
      if (Date.now() > deadline || child.exitCode !== null) throw new Error(`${name} did not start: ${readFileSync(log, 'utf8')}`)
  }
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

/** The same of all. */
function adminPortOf(places: readonly Place[]): string {
  return new URL(places[0]?.adminUrl ?? '').port
}

function placed(file: string, places: readonly Place[]): string {
  return places.reduce((text, { url }, at) => text.replaceAll(`${gateways[at]}:8080`, new URL(url).host), readDeploy(file))
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
