/** The two ports: the public one, and the operators' own (docs/contract.md §13). */
import { adminApp, adminRefusal, type PrintError, type Readiness } from '../adapters/admin.ts'
import { expressApp, messagesOf } from '../adapters/express.ts'
import { listen } from '../adapters/server.ts'
import type { Config } from '../config.ts'
import { errorBody } from '../edges/response.ts'
import { forms } from '../forms/index.ts'
import type { Form } from '../wire/form.ts'
import type { Http } from '../wire/http.ts'
import { boundAddresses } from './connections-per-address.ts'
import { type Drain, drainOf } from './drain.ts'
import { boundIdleness } from './idleness.ts'
import { listening } from './listening.ts'
import { mostConnections } from './open-files.ts'
import { boundPipelines } from './pipelines.ts'
import { turnstile } from './turnstile.ts'

export interface Port {
  readonly url: string
  readonly drain: Drain
}

export async function openAdmin({ admin, defaultForm }: Config, readiness: () => Readiness, printMetrics: Printing): Promise<Port> {
  const form = forms.find(({ name }) => name === defaultForm) as Form
  const printError: PrintError = (status, message) => errorBody(form, status, message)
  const app = adminApp({ readiness, printMetrics, printError, hosts: admin.hosts })
  const { server, url } = await listening('admin', admin, () => listen(app, adminRefusal(printError), admin))
  return { url, drain: drainOf(server) }
}

type Printing = Parameters<typeof adminApp>[0]['printMetrics']

export interface PublicPort extends Port {
  /** How long the first request in line has waited, in milliseconds. */
  readonly wait: () => number
}

/** `isEnding`: whether every answer is to end its connection. */
export async function openPublic(config: Config, handle: Http, isEnding: () => boolean): Promise<PublicPort> {
  const patience = patienceOf(config)
  const app = expressApp(handle, { ...config.server, patience, isEnding })
  const { listener, wait, open } = turnstile(app)
  const connections = mostConnections(config.server.connections)
  const options = {
    ...config.server,
    messages: messagesOf(app),
    connections,
    patience,
  }
  const { server, url } = await listening('server', config.server, () => listen(listener, handle, options))
  boundPipelines(server, mostDue)
  if (config.server.trustProxy === 0) {
    boundAddresses(server, config.server.connectionsPerAddress ?? Math.ceil(connections * shareOfOneAddress))
  }
  boundIdleness(server, patience)
  const drain = drainOf(server)
  const begin = (): void => {
    drain.begin()
    open()
  }
  return { url, drain: { ...drain, begin }, wait }
}

/** No connection is silent and no answer is left for longer, in milliseconds; a slow provider is waited for. */
function patienceOf({ server, providers }: Config): number {
  return 1000 * Math.max(server.patience, ...providers.map(({ timeout }) => 2 * timeout))
}

/** What is left is for everybody else. */
const shareOfOneAddress = 0.9
/** Answers that one connection may have due. */
const mostDue = 100
