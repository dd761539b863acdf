/** The process: everything that runs, started in order and ended in reverse (`spec/contract.md` §13). */
import type { RequestListener } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { adminApp, adminRefusal, type Readiness } from './adapters/admin.ts'
import { expressApp } from './adapters/express.ts'
import { memoryLimiter, memoryProofs } from './adapters/limiter.ts'
import { createMetrics } from './adapters/metrics.ts'
import { type Listening, listen } from './adapters/server.ts'
import type { Config } from './config.ts'
import { forms } from './forms/index.ts'
import { createGateway } from './gateway.ts'
import { drainOf } from './process/drain.ts'
import { version } from './process/version.ts'
import type { Http } from './wire/http.ts'

export interface Running {
  /** By what answers there: `gateway`, `form A`, `admin`, `sandbox`. */
  readonly urls: ReadonlyMap<string, string>
  /** Lets the requests in flight finish, then closes everything. */
  readonly stop: () => Promise<void>
}

/** Throws a `StartError` where a port cannot be had; nothing is left open then. */
export async function start(config: Config): Promise<Running> {
  await using open = new AsyncDisposableStack()
  let readiness: Readiness = 'starting'
  const metrics = createMetrics(new Map(config.providers.map(({ tag, form }) => [tag, form])))

  const adminHandler = adminApp({ readiness: () => readiness, metrics })
  const admin = await listenAs('admin', config.admin, adminHandler, adminRefusal)
  const adminDrain = drainOf(admin.server)
  open.defer(() => adminDrain.finish(0))

  const gateway = createGateway({
    config,
    forms,
    limiter: memoryLimiter(),
    proofs: memoryProofs(),
    observe: metrics.observe,
    version,
  })
  open.defer(gateway.close)

  const handler = expressApp(gateway.handle, config.server)
  const server = await listenAs('server', config.server, handler, gateway.handle)
  const drain = drainOf(server.server)
  open.defer(() => drain.finish(config.server.drain * 1000))

  readiness = 'ready'
  const running = open.move()
  return {
    urls: new Map([['gateway', server.url], ...formUrls(server.url), ['admin', admin.url]]),
    async stop() {
      readiness = 'draining'
      drain.begin()
      await wait(config.server.grace * 1000)
      await running.disposeAsync()
    },
  }
}

/** Why nothing was started, in one line. */
export class StartError extends Error {}

type Address = { readonly host: string; readonly port: number }

async function listenAs(
  section: 'server' | 'admin',
  { host, port }: Address,
  listener: RequestListener,
  handle: Http,
): Promise<Listening> {
  try {
    return await listen(listener, handle, { host, port })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'the port is in use' : code
    throw new StartError(`${section}: cannot listen on ${host} port ${port}: ${why}`, { cause })
  }
}

/** The base URLs that integrators are told to use. */
function formUrls(url: string): [string, string][] {
  return forms.map(({ name }) => [`form ${name}`, `${url}/${name.toLowerCase()}`])
}
