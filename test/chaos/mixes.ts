/** Commands in any order, over any client, provider and fault. */
import fc from 'fast-check'
import type { Direction } from '../checker/connection.ts'
import type { Fault } from '../checker/provider/fault.ts'
import {
  burst,
  type Command,
  create,
  down,
  failure,
  kill,
  list,
  type Moment,
  network,
  read,
  restart,
  retry,
  retryAsAnother,
  toxics,
} from './commands.ts'
import type { SiteName } from './world.ts'

const faults: readonly Fault[] = [
  { after: 'reset' },
  { after: 'fin' },
  { after: 'half' },
  { after: 'hang' },
  { after: 'garbage' },
  { after: 500 },
  { after: 503 },
  { before: 'reset' },
  { before: 503 },
  { before: 429 },
  { before: 422 },
  { swap: 'coinTo' },
  { swap: 'withdrawalAddress' },
  { swap: 'rateType' },
]

const client = fc.nat({ max: 1 })
const caller = fc.record({ who: client, isKeyed: fc.boolean() })
const nth = fc.nat({ max: 30 })
const site = fc.constantFrom<SiteName>('alpha', 'beta')
const direction = fc.constantFrom<Direction>('upstream', 'downstream')
const toxic = fc.constantFrom(...(Object.keys(toxics) as (keyof typeof toxics)[]))

const possible: readonly fc.Arbitrary<Command>[] = [
  caller.map(create),
  client.map(burst),
  nth.map(retry),
  fc.tuple(client, nth).map(([who, which]) => retryAsAnother(who, which)),
  fc.tuple(caller, fc.constantFrom<Moment>('at once', 'applied', 'responded')).map(([by, moment]) => kill(by, moment)),
  fc.tuple(caller, site, direction, toxic).map(([by, at, way, name]) => network(by, at, way, name)),
  fc.tuple(caller, site).map(([by, at]) => down(by, at)),
  fc.tuple(caller, fc.constantFrom(...faults)).map(([by, fault]) => failure(by, fault)),
  fc.tuple(client, nth).map(([who, which]) => read(who, which)),
  client.map(list),
]

/** A gateway that is down is soon started again: until then nothing else is possible. */
const some = fc.oneof(...possible.map((arbitrary) => ({ arbitrary, weight: 1 })), {
  arbitrary: fc.constant(restart()),
  weight: possible.length,
})

export const mixes = fc.array(some, { minLength: 20, maxLength: 30 })
