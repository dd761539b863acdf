/**
 * What it saves that the server creates requests and responses with express's prototypes (`src/adapters/http/express.ts`): the
 * same application, with and without these classes. Both take turns on one core. Needs wrk.
 */
import type { ChildProcess } from 'node:child_process'
import { expressApp, messagesOf } from '../src/adapters/http/express.ts'
import { listen } from '../src/adapters/http/server.ts'
import type { Http } from '../src/wire/http.ts'
import { median } from './median.ts'
import { cores, load, processorTime, requireWrk, start } from './rig.ts'
import { transactionText } from './transaction.ts'

const variants = { bound: 19_221, changed: 19_222 } as const
type Variant = keyof typeof variants

/** `changed`: express changes the prototype of each request and response. */
async function serve(variant: Variant): Promise<void> {
  const handle: Http = async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: transactionText })
  const app = expressApp(handle, { trustProxy: 0, maxBodyBytes: 1_000, cors: [] })
  const options = { host: '127.0.0.1', port: variants[variant] }
  await listen(app, handle, variant === 'bound' ? { ...options, messages: messagesOf(app) } : options)
  console.log('listening')
}

/** Microseconds of the core for a request. */
function cost(variant: Variant, child: ChildProcess, seconds: number): number {
  const before = processorTime(child)
  const { requests, failures } = load(variants[variant], seconds)
  if (failures) throw new Error(`${variant}: ${failures}`)
  return (processorTime(child) - before) / requests
}

async function measure(rounds: number, seconds: number): Promise<void> {
  requireWrk()
  const bound = await start(cores.gateway, [import.meta.filename, 'serve', 'bound'])
  const changed = await start(cores.gateway, [import.meta.filename, 'serve', 'changed'])
  try {
    cost('bound', bound, seconds) // warm-up
    cost('changed', changed, seconds)
    const pairs = Array.from({ length: rounds }, () => [cost('bound', bound, seconds), cost('changed', changed, seconds)] as const)
    const row = (name: string, costs: readonly number[]): void =>
      console.log(`${name.padEnd(26)}${costs.map((each) => each.toFixed(1)).join(' ')}`)
    row(
      'created with them, µs',
      pairs.map(([each]) => each),
    )
    row(
      'changed by express, µs',
      pairs.map(([, each]) => each),
    )
    console.log(`median of the difference ${median(pairs.map(([a, b]) => b - a)).toFixed(1)} µs, ${rounds} rounds of ${seconds} s`)
  } finally {
    bound.kill()
    changed.kill()
  }
}

const [first, second] = process.argv.slice(2)
if (first === 'serve') await serve(second === 'bound' ? 'bound' : 'changed')
else await measure(Number(first ?? 9), Number(second ?? 3))
