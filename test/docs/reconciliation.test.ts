// Takes long: an outage is rehearsed as the page has it.
/** `docs/reconciliation.md` shows what the commands print, and what a rehearsed outage looks like. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { Intent, TransactionRecord } from '../../src/core/ports/ledger.ts'
import type { Amount } from '../../src/domain/amount.ts'
import type { NewTransaction, Transaction } from '../../src/domain/swap.ts'
import { Place } from '../cli/place.ts'
import { query } from '../ledger/raw.ts'
import { startFormA } from '../support/form-a.ts'
import { startFormB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { swap } from '../support/swaps.ts'
import { commandsOf } from './page.ts'
import { lastingPart, repetitions, type Step, toursOf } from './tour.ts'
import { tourDirectory } from './tour-directory.ts'

const page = readFileSync('docs/reconciliation.md', 'utf8')
const hasCurl = spawnSync('curl', ['--version']).status === 0
const now = Date.parse('2026-11-20T10:00:00Z')

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }))
afterEach(() => void vi.useRealTimers())

const owner = 'd6b4e9e5-aa2a-4d14-b39e-3d2d0e416ed8'
const requested = {
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  coinTo: 'USDT',
  networkTo: 'TRX',
  codeFrom: 'BTC',
  codeTo: 'USDTTRC20',
  amountIn: '0.10' as Amount,
  withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  rateType: 'float' as const,
} satisfies NewTransaction

function transactionOf(id: string, facts: Partial<Transaction>): Transaction {
  return { ...requested, id, status: 'wait', createdAt: '', depositAddress: 'bc1qu9x879yr9t5gstky30w4mkygzdjmwnsmdt7xqe', ...facts }
}

/** The ledger that the page shows: three swaps, a create of unknown outcome, and a mismatch. */
async function fill({ ledger }: Awaited<ReturnType<Place['stores']>>): Promise<void> {
  const begin = (id: string, attemptedAt: string, more: Partial<Intent> = {}): Promise<boolean> => {
    const at = Date.parse(attemptedAt)
    return ledger.begin({ id, owner, provider: 'alpha', requested: requested, attemptedAt: at, nextCheckAt: at + 15_000, ...more })
  }
  const create = async (provider: string, id: string, facts: Partial<Transaction> & { createdAt: string }): Promise<void> => {
    await begin(`create-${id}`, facts.createdAt, { provider })
    const record: TransactionRecord = {
      transaction: transactionOf(id, facts),
      derived: [],
      quotedAmountOut: '9434.264832' as Amount,
      reportedAt: now,
    }
    await ledger.complete(`create-${id}`, { ...record, fetchedAt: now })
  }
  await create('alpha', '1fc8a276', {
    createdAt: '2026-06-02T08:15:00Z',
    status: 'success',
    depositAddress: '1BoatSLRHtKNngkdXEeobR76b53LETtpyT',
  })
  await create('beta', '77b0d3e1', {
    createdAt: '2026-07-14T17:40:00Z',
    status: 'overdue',
    depositAddress: '1CounterpartyXXXXXXXXXXXXXXXUWLpVr',
  })
  await create('alpha', '691844ef', { createdAt: '2026-11-20T09:05:12Z' })
  const unknown = '5f0c3a52-7f8e-4c0e-9d9a-0c1f6f0f2a11'
  await begin(unknown, '2026-11-20T09:31:07Z', { idempotencyKey: { key: 'order-2002', fingerprint: 'the question' } })
  await ledger.markUnknown(unknown, now, 'timed_out')
  const mismatch = '8a1b7c90-13d4-4b61-8a35-6e2c9a7d4b02'
  await begin(mismatch, '2026-11-20T09:42:55Z')
  await ledger.markMismatch(mismatch, transactionOf('0e76d198', {}), ['withdrawalAddress'])
}

async function reportFailed(id: string, place: Place): Promise<void> {
  const { ledger, close } = await place.stores()
  const before = await ledger.find(owner, 'alpha', id)
  const transaction = { ...transactionOf(id, {}), ...before?.transaction, attention: 'failed' } as const
  await ledger.upsert(owner, 'alpha', { derived: [], reportedAt: now, ...before, transaction }, before)
  await close()
}

it('shows each command with what it prints', async () => {
  const providers = [await startFormA(), await startFormB()] as const
  onTestFinished(async () => void (await Promise.all(providers.map(({ close }) => close()))))
  const [{ holdings }] = providers
  holdings.swaps = [
    swap({
      id: 'd2f1c6a7',
      withdrawalAddress: requested.withdrawalAddress,
      refundAddress: null,
      ...{ createdAt: '2026-11-20T09:31:08Z', updatedAt: '2026-11-20T09:31:08Z' },
      ...{ amountOut: digits('9425.243471'), rate: digits('94252.43471') },
      depositAddress: 'bc1qsj7vuysr7v8czykq9hea0epgsaz2h50yhx75yk',
    }),
  ]
  using place = new Place({ providers })
  await place.swapgate('keys', 'create', '--name', 'acme')
  const renamed = [`UPDATE accounts SET id = '${owner}'`, `UPDATE keys SET account = '${owner}'`]
  await query(place.ledgerUrl, 'PRAGMA foreign_keys = OFF', ...renamed)
  const stores = await place.stores()
  await fill(stores)
  await stores.close()
  const commands = commandsOf(page)
  for (const { typed, shown } of commands) {
    if (typed.includes(' settle ')) await reportFailed('d2f1c6a7', place)
    const { exitCode, out } = await place.swapgate(...typed.split(' '))
    expect([exitCode, out.join('\n')], typed).toEqual([0, shown])
  }
  const ledgerCommands = ['stats', 'unknown', 'resolve', 'resolve', 'unknown', 'export', 'prune', 'settle']
  expect(commands.map(({ typed }) => typed.split(' ')[1])).toEqual(ledgerCommands)
})

it.runIf(hasCurl)(
  'rehearses an outage: a create of unknown outcome is found, and happens once',
  async () => {
    const steps = toursOf(page).get('rehearsal') as readonly Step[]
    using place = await tourDirectory('managed')
    const printed = await place.take(steps)
    expect(printed.map(lastingPart)).toEqual(steps.map(({ shown }) => lastingPart(place.move(shown))))
    expect(repetitions(printed)).toEqual(repetitions(steps.map(({ shown }) => shown)))
  },
  60_000,
)
