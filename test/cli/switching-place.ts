/** A place with three providers, of which two take new swaps. */
import { writeFileSync } from 'node:fs'
import { hostname, userInfo } from 'node:os'
import type { AuditRecord } from '../../src/core/operations/audit.ts'
import type { RoutingReport } from '../../src/core/operations/change.ts'
import { facts, intent } from '../ledger/samples.ts'
import type { CommandResult } from '../support/command.ts'
import { Place } from './place.ts'

/** Who runs the commands. */
export const actor = `cli:${userInfo().username}@${hostname()}`

interface Settings {
  readonly routing?: object
  readonly alpha?: object
  readonly mode?: string
}

export class SwitchingPlace extends Place {
  constructor() {
    super()
    this.configure()
  }

  configure({ routing = {}, alpha = {}, mode = 'managed' }: Settings = {}): void {
    const provider = (form: string, port: number) => ({ form, url: `http://127.0.0.1:${port}/api/v2`, key: 'provider-key-1' })
    const config = {
      auth: { mode },
      ledger: { url: this.ledgerUrl },
      providers: { alpha: { ...provider('A', 1), tag: 'a1', ...alpha }, beta: provider('B', 2), gamma: provider('A', 3) },
      routing: { providers: mode === 'managed' ? ['alpha', 'beta'] : ['alpha'], ...routing },
    }
    writeFileSync(this.file, JSON.stringify(config))
  }

  providers(...args: readonly string[]): Promise<CommandResult> {
    return this.swapgate('providers', ...args)
  }

  /** What is in force, by a command that changes nothing. */
  async states(): Promise<unknown> {
    return (await this.facts<RoutingReport>('providers', 'reset', 'shadow')).inForce.states
  }

  /** The newest first. */
  async audited(): Promise<readonly unknown[]> {
    const records = await this.facts<readonly AuditRecord[]>('audit')
    return records.map(({ actor: who, action, subject, before, after }) => [who, action, subject, before, after])
  }

  /** Three creates in a row at this tag named another amount of BTC. */
  async suspend(tag: string): Promise<void> {
    const { ledger, close } = await this.stores()
    const words = { code: 'BTC', coin: 'BTC', network: 'BTC' }
    const judged = { tags: [tag], asset: words, sent: words, network: 'BTC', refused: ['amount' as const], isOf: () => true }
    for (const create of [1, 2, 3].map(() => intent({ provider: tag }))) {
      await ledger.begin(create)
      await ledger.markMismatch(create.id, facts(create.id).transaction, ['amountIn'], [judged])
    }
    await close()
  }

  /** Alpha has a transaction and a create that are open. */
  async open(): Promise<void> {
    const { ledger, close } = await this.stores()
    await ledger.upsert('owner', 'a1', facts('x', { status: 'exchanging' }))
    await ledger.begin(intent({ provider: 'a1' }))
    await close()
  }
}
