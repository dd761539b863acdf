/** Kysely: creates, from before they go up until it is known what came of them. */
import type { Intent, Ledger } from '../../core/ledger.ts'
import { claim } from './claims.ts'
import type { LedgerClock } from './clock.ts'
import { bindFound, contradict, settle } from './settle.ts'
import type { Database, Store } from './store.ts'
import type { State } from './tables.ts'

type Intents = Pick<Ledger, 'begin' | 'drop' | 'doubt' | 'settle' | 'bindFound' | 'contradict'>

export function intents({ write, writeOne, clock }: Store): Intents {
  return {
    begin: (intent) => write((within) => begin(within, intent, clock)),
    drop: (intent) => writeOne(async (within) => void (await drop(within, intent, open)), 'result'),
    doubt: (intent, lookAt) => writeOne((within) => doubt(within, intent, lookAt), 'result'),
    settle: (intent, facts) => write((within) => settle(within, intent, facts, clock), 'result'),
    bindFound: (intent, facts) => write((within) => bindFound(within, intent, facts, clock), 'result'),
    contradict: (intent, told, fields) => write((within) => contradict(within, intent, told, fields), 'result'),
  }
}

const open: readonly State[] = ['pending', 'unknown']

async function begin(within: Database, intent: Intent, clock: LedgerClock): Promise<boolean> {
  const row = {
    intent: intent.id,
    owner: intent.owner,
    provider: intent.provider,
    state: 'pending',
    attempted_at: intent.attemptedAt,
    look_at: intent.lookAt,
    begun_at: clock.at(clock.read()),
    asked: JSON.stringify(intent.asked),
    traceparent: intent.traceparent ?? null,
  } as const
  const inserted = within
    .insertInto('transactions')
    .values(row)
    .onConflict((conflict) => conflict.column('intent').doNothing())
  const { numInsertedOrUpdatedRows } = await inserted.executeTakeFirstOrThrow()
  // The same create once more: the first time, its COMMIT was not confirmed.
  if (numInsertedOrUpdatedRows === 0n) return true
  if (await claim(within, intent, clock)) return true
  await drop(within, intent.id, open)
  return false
}

/** Its claim goes with it. False where it is in none of these states. */
export async function drop(within: Database, intent: string, states: readonly State[]): Promise<boolean> {
  const gone = within.deleteFrom('transactions').where('intent', '=', intent).where('state', 'in', states)
  const { numDeletedRows } = await gone.executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

async function doubt(within: Database, intent: string, lookAt: number): Promise<void> {
  const doubted = within.updateTable('transactions').set({ state: 'unknown', look_at: lookAt })
  await doubted.where('intent', '=', intent).where('state', 'in', open).execute()
}
