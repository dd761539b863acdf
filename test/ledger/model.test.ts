/** For any commands in any order, a ledger returns what the model does. */
import * as fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import type { Intent, Ledger, LedgerEntry } from '../../src/core/ports/ledger.ts'
import type { EventStore } from '../../src/core/ports/transaction-events.ts'
import { type Status, statuses } from '../../src/domain/status.ts'
import type { OpenLedger } from '../../src/ledger/index.ts'
import { Model } from './model.ts'
import { always, facts, intent, unique, upsert } from './samples.ts'
import { allStores, describeStores } from './stores.ts'

afterEach(() => void vi.useRealTimers())

const start = Date.UTC(2026, 6, 1)
const hour = 3_600_000
const day = 24 * hour
const owners = ['ann', 'bob']
const providers = ['p', 'q']
const ids = ['x', 'y', 'z']
const keys = ['k', 'l']

interface ReportedTransaction {
  readonly id: number
  readonly status: Status | undefined
  /** Milliseconds after `attemptedAt`. */
  readonly created: number
  readonly sequence: number
}

/** What can be done; numbers choose among what there is. */
interface Commands {
  readonly begin: { readonly owner: number; readonly provider: number; readonly key: number | null }
  readonly drop: { readonly create: number }
  readonly none: { readonly create: number }
  readonly doubt: { readonly create: number; readonly after: number }
  readonly complete: ReportedTransaction & { readonly create: number }
  readonly contradict: ReportedTransaction & { readonly create: number }
  readonly bind: { readonly create: number; readonly id: number }
  readonly upsert: ReportedTransaction & { readonly owner: number; readonly provider: number }
  readonly take: { readonly nth: number; readonly after: number | null }
  readonly pass: { readonly hours: number }
  readonly prune: Readonly<Record<string, never>>
  readonly expire: Readonly<Record<string, never>>
}
type Command = { [Name in keyof Commands]: { readonly name: Name; readonly with: Commands[Name] } }[keyof Commands]

const create = fc.nat(5)
const one = fc.nat(1)
const reported = {
  id: fc.nat(2),
  status: fc.option(fc.constantFrom(...statuses), { nil: undefined }),
  created: fc.constantFrom(-600_000, -1_000, 0, 5, 60_000, 10 * hour),
  sequence: fc.nat(5),
}
const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: named('begin', fc.record({ owner: one, provider: one, key: fc.option(one) })) },
  { weight: 1, arbitrary: named('drop', fc.record({ create })) },
  { weight: 1, arbitrary: named('none', fc.record({ create })) },
  { weight: 2, arbitrary: named('doubt', fc.record({ create, after: fc.nat(3) })) },
  { weight: 5, arbitrary: named('complete', fc.record({ create, ...reported })) },
  { weight: 2, arbitrary: named('contradict', fc.record({ create, ...reported })) },
  { weight: 2, arbitrary: named('bind', fc.record({ create, id: reported.id })) },
  { weight: 4, arbitrary: named('upsert', fc.record({ owner: one, provider: one, ...reported })) },
  { weight: 2, arbitrary: named('take', fc.record({ nth: fc.nat(3), after: fc.option(fc.nat(3)) })) },
  { weight: 1, arbitrary: named('pass', fc.record({ hours: fc.constantFrom(0.01, 1, 25) })) },
  { weight: 1, arbitrary: named('prune', fc.constant({})) },
  { weight: 1, arbitrary: named('expire', fc.constant({})) },
)

function named<Name extends keyof Commands>(name: Name, choices: fc.Arbitrary<Commands[Name]>) {
  return choices.map((chosen) => ({ name, with: chosen }) as Command)
}

/** What both return, or that they refuse. */
async function responseOf(action: () => unknown): Promise<unknown> {
  try {
    return await action()
  } catch {
    return 'refused'
  }
}

type Stores = Pick<OpenLedger, 'ledger' | 'ledgerAdmin' | 'events'>

/** Does the same in both, expects the same results, and afterwards the same state. */
async function play({ ledger, ledgerAdmin, events }: Stores, steps: readonly Command[]): Promise<void> {
  const model = new Model()
  const run = unique('')
  const [theirOwners, theirProviders] = [owners.map((name) => name + run), providers.map((name) => name + run)]
  const owner = (n: number) => theirOwners[n] as string
  const provider = (n: number) => theirProviders[n] as string
  const creates: Intent[] = [intent({ owner: owner(0), provider: provider(0), attemptedAt: start })]
  const chosen = (n: number) => creates[n % creates.length] as Intent
  const reportedFacts = ({ id, status, created, sequence }: ReportedTransaction, from: number, at: string) =>
    facts(
      ids[id] as string,
      { status, depositAddress: `${at} ${id}`, createdAt: new Date(from + created).toISOString() },
      { changedAt: Date.now(), sequence },
    )

  const does: { readonly [Name in keyof Commands]: (chosen: Commands[Name]) => readonly [() => unknown, () => unknown] } = {
    begin({ key, ...by }) {
      const attemptedAt = Date.now() + creates.length
      const idempotencyKey = key === null ? undefined : { key: keys[key] as string, fingerprint: `${creates.length}` }
      const made = intent({ owner: owner(by.owner), provider: provider(by.provider), attemptedAt, idempotencyKey })
      creates.push(made)
      return [() => ledger.begin(made), () => model.begin(made)]
    },
    drop: ({ create }) => [() => ledger.drop(chosen(create).id), () => model.drop(chosen(create).id)],
    none: ({ create }) => [() => ledgerAdmin.markNotCreated(chosen(create).id, 'tester'), () => model.none(chosen(create).id)],
    doubt({ create, after }) {
      const nextCheckAt = Date.now() + after * hour
      return [() => ledger.markUnknown(chosen(create).id, nextCheckAt), () => model.doubt(chosen(create).id, nextCheckAt)]
    },
    complete({ create, ...what }) {
      const { id, attemptedAt, provider: at } = chosen(create)
      const result = reportedFacts(what, attemptedAt, at)
      return [() => ledger.complete(id, result), () => model.settle(id, result)]
    },
    contradict({ create, ...what }) {
      const { id, attemptedAt, provider: at } = chosen(create)
      const { transaction } = reportedFacts(what, attemptedAt, at)
      return [() => ledger.markMismatch(id, transaction, ['coinTo']), () => model.contradict(id, transaction)]
    },
    bind({ create, id }) {
      const [to, at] = [ids[id] as string, Date.now()]
      return [() => ledgerAdmin.bind(chosen(create).id, to, at, undefined, 'tester'), () => model.bind(chosen(create).id, to, at)]
    },
    upsert({ owner: who, provider: where, ...what }) {
      const record = reportedFacts(what, start, provider(where))
      return [() => upsert(ledger, owner(who), provider(where), record), () => model.upsert(owner(who), provider(where), record)]
    },
    take({ nth, after }) {
      const open = model.due(Date.now() + hour, theirOwners)[nth]
      const next = after === null ? undefined : Date.now() + after * hour
      return [() => open && ledger.scheduleNextCheck(open, next), () => open && model.take(open, next)]
    },
    pass({ hours }) {
      vi.setSystemTime(Date.now() + hours * hour)
      return [() => {}, () => {}]
    },
    // Of other runs in the same store there are transactions and keys too.
    prune: () => [async () => void (await ledgerAdmin.prune(start + 1_000 * day, 'tester')), () => void model.prune()],
    expire: () => [async () => void (await ledger.expireIdempotencyKeys()), () => void model.expireIdempotencyKeys()],
  }

  const rows = new ExpectedRows(model, theirOwners, theirProviders)
  for (const step of steps) {
    const [actual, expected] = (does[step.name] as (choice: unknown) => ReturnType<(typeof does)['begin']>)(step.with)
    const [response, responseOfModel] = [await responseOf(actual), await responseOf(expected)]
    expect(response, JSON.stringify(step)).toEqual(responseOfModel)
    if (rows.look()) while ((await events.number()).mayBeMore);
  }
  await expectSame(ledger, model, theirOwners, theirProviders)
  await rows.expectIn(events)
}

const shownState = ({ transaction: { status, attention, depositAddress, amountIn } }: LedgerEntry): string =>
  JSON.stringify([status ?? null, attention ?? null, depositAddress ?? null, amountIn])

/** Of each change that an owner can see in the model one row, in the order of the changes, with a number for each owner and each transaction. */
class ExpectedRows {
  private readonly kept = new Map<string, { isCreated: boolean; firstNumber: number; states: string[] }>()
  private readonly made = new Map<string, number>()
  private readonly model: Model
  private readonly owners: readonly string[]
  private readonly providers: readonly string[]

  constructor(model: Model, owners: readonly string[], providers: readonly string[]) {
    this.model = model
    this.owners = owners
    this.providers = providers
  }

  /** Whether something has changed since the last look. */
  look(): boolean {
    const before = this.total()
    for (const [key, owner, provider, id] of this.places()) {
      const entry = this.model.find(owner, provider, id)
      const rows = this.kept.get(key)
      const state = entry && shownState(entry)
      if (!entry || state === undefined) this.kept.delete(key)
      else if (rows?.isCreated !== entry.isCreated) {
        // The rows of one that was only observed go with it, and its create has the next number.
        const firstNumber = rows ? rows.firstNumber + rows.states.length : 1
        this.kept.set(key, { isCreated: entry.isCreated, firstNumber, states: [state] })
        this.count(owner)
      } else if (rows.states.at(-1) !== state) {
        rows.states.push(state)
        this.count(owner)
      }
    }
    return this.total() !== before
  }

  async expectIn(events: EventStore): Promise<void> {
    for (const [key, owner, provider, id] of this.places()) {
      const { firstNumber, states } = this.kept.get(key) ?? { firstNumber: 1, states: [] }
      const rows = await events.ofTransaction(owner, provider, id, 0, 1_000)
      expect(rows.map(({ transactionNumber, entry }) => [transactionNumber, shownState(entry)])).toEqual(
        states.map((state, at) => [firstNumber + at, state]),
      )
    }
    for (const owner of this.owners) {
      const numbers = (await events.ofOwner(owner, 0, 1_000)).map(({ number }) => number)
      expect(numbers).toEqual(numbers.toSorted((a, b) => Number(a) - Number(b)))
      expect(new Set(numbers).size).toBe(numbers.length)
      expect((await events.rangeOfOwner(owner)).last).toBe(this.made.get(owner) ?? 0)
    }
  }

  private places(): readonly (readonly [string, string, string, string])[] {
    return this.owners.flatMap((owner) =>
      this.providers.flatMap((provider) => ids.map((id) => [`${owner} ${provider} ${id}`, owner, provider, id] as const)),
    )
  }

  private count(owner: string): void {
    this.made.set(owner, (this.made.get(owner) ?? 0) + 1)
  }

  private total(): number {
    return this.made.values().reduce((sum, count) => sum + count, 0)
  }
}

async function expectSame(
  ledger: Ledger,
  model: Model,
  theirOwners: readonly string[],
  theirProviders: readonly string[],
): Promise<void> {
  for (const owner of theirOwners) {
    for (const page of [1, 2]) {
      const query = {
        page,
        size: 2,
        created: page === 1 ? always : { first: always.first, last: BigInt(start + hour) * 1_000_000n },
      }
      expect(await ledger.list(owner, query)).toEqual(model.list(owner, query))
    }
    for (const key of keys) expect(await ledger.findIdempotencyKey(owner, key)).toEqual(model.findIdempotencyKey(owner, key))
    for (const provider of theirProviders) {
      for (const id of ids) expect(await ledger.find(owner, provider, id)).toEqual(model.find(owner, provider, id))
    }
    expect((await ledger.knownOwners([owner, 'unknown'])).has(owner)).toBe(model.hasOwner(owner))
  }
  for (const provider of theirProviders) {
    expect(await ledger.unresolvedBetween(provider, 0, Number.MAX_SAFE_INTEGER)).toEqual(model.unresolvedAt(provider))
    expect(await ledger.existingIds(provider, ids)).toEqual(model.held(provider, ids))
  }
  const later = Date.now() + 100 * hour
  expect(await ledger.dueCreates(later, 100, theirOwners)).toEqual(model.due(later, theirOwners))
}

describeStores(allStores, (shared) => {
  test('for any commands, the ledger returns what the model does, and each change that an owner can see is one row', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(commands, { minLength: 1, maxLength: 30 }), async (steps) => {
        vi.useFakeTimers({ toFake: ['Date'], now: start })
        await play(shared(), steps)
      }),
      { numRuns: 60 },
    )
  })
})
