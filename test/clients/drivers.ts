/** The clients in one language of calls and results, so that every test is one for each of them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import {
  type AddressToCheck,
  type Amount,
  type Order,
  type RateQuery,
  reasons,
  type Status,
  SwapClient,
  SwapError,
} from '../../clients/typescript/swapgate.ts'
import { readWebhook } from '../../clients/typescript/webhooks.ts'

export interface Connection {
  readonly url: string
  readonly key?: string
  readonly patienceSeconds?: number
  readonly timeoutSeconds?: number
}

export type Call =
  | { readonly name: 'reasons' }
  | { readonly name: 'rate' | 'rates'; readonly query: Omit<RateQuery, 'amount'> & { readonly amount: unknown } }
  | { readonly name: 'pair'; readonly from: string; readonly to: string }
  | { readonly name: 'checkAddress'; readonly question: AddressToCheck }
  | {
      readonly name: 'create'
      readonly order: Omit<Order, 'amount'> & { readonly amount: unknown }
      readonly idempotencyKey?: string
      readonly isRepeat?: boolean
      readonly provider?: string
    }
  | { readonly name: 'get'; readonly id: string }
  | { readonly name: 'waitFor'; readonly id: string; readonly withinSeconds?: number }
  | { readonly name: 'events'; readonly swap?: string; readonly lastEventId?: string; readonly count: number }
  | {
      readonly name: 'readWebhook'
      readonly body: string
      readonly headers: Readonly<Record<string, string>>
      readonly secrets: readonly string[]
    }
  | { readonly name: 'list'; readonly page: number; readonly size: number }
  | { readonly name: 'all'; readonly status?: Status; readonly updatedSince?: string }
  | { readonly name: 'allCurrencies'; readonly search: string }

/** What a call returned, in the names of the TypeScript client. */
export interface Result {
  readonly value?: unknown
  readonly error?: {
    readonly name: string
    readonly message: string
    readonly reason?: string
    readonly status?: number
    readonly requestId?: string
    readonly retryAfter?: number
    readonly minAmount?: Amount
    readonly maxAmount?: Amount
    readonly errors?: readonly object[]
    readonly order?: object
    readonly repeat?: object
  }
}

export interface Driver extends AsyncDisposable {
  readonly call: (connection: Connection, call: Call) => Promise<Result>
}

function typescript(): Driver {
  return {
    call: async (connection, call) => {
      try {
        return { value: await answer(new SwapClient(connection), call) }
      } catch (error) {
        if (!(error instanceof Error)) throw error
        const { name, message } = error
        if (!(error instanceof SwapError)) return { error: { name, message } }
        return { error: { ...error, name, message } }
      }
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

async function answer(client: SwapClient, call: Call): Promise<unknown> {
  switch (call.name) {
    case 'reasons':
      return reasons
    case 'rate':
      return client.rate(call.query as RateQuery)
    case 'rates':
      return client.rates(call.query as RateQuery)
    case 'pair':
      return client.pair(call.from, call.to)
    case 'checkAddress':
      return client.checkAddress(call.question)
    case 'create': {
      const { name, order, ...options } = call
      return client.create(order as Order, options)
    }
    case 'get':
      return client.get(call.id)
    case 'waitFor': {
      const statuses: string[] = []
      const seen = await client.waitFor(call.id, {
        onChange: ({ swap }) => statuses.push(swap.status),
        ...(call.withinSeconds !== undefined && { signal: AbortSignal.timeout(1000 * call.withinSeconds) }),
      })
      return { ...seen, statuses }
    }
    case 'events': {
      const { count, name, ...options } = call
      const events = client.events(options)
      const taken: object[] = []
      for (let next = await events.next(); !next.done; next = await events.next()) {
        const { kind, ...event } = next.value
        if (taken.push(event) === count) break
      }
      await events.return(undefined)
      return taken
    }
    case 'readWebhook':
      return readWebhook(call.body, call.headers, ...call.secrets)
    case 'list':
      return client.list({ page: call.page, size: call.size })
    case 'all': {
      const { name, ...query } = call
      return Array.fromAsync(client.all(query))
    }
    case 'allCurrencies':
      return Array.fromAsync(client.allCurrencies(call.search))
  }
}

export const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0

function python(): Driver {
  let child: ChildProcess | undefined
  const waiting: ((line: string) => void)[] = []
  return {
    call: async (connection, call) => {
      if (!child) {
        child = spawn('python3', ['-B', 'test/clients/driver.py'], { stdio: ['pipe', 'pipe', 'inherit'] })
        createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => waiting.shift()?.(line))
      }
      const line = new Promise<string>((done) => waiting.push(done))
      child.stdin?.write(`${JSON.stringify({ connection, call })}\n`)
      return JSON.parse(await line) as Result
    },
    async [Symbol.asyncDispose]() {
      const ended = child && new Promise((done) => child?.once('exit', done))
      child?.stdin?.end()
      await ended
    },
  }
}

export const drivers = { TypeScript: typescript, Python: python } as const
