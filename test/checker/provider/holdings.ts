/** The swaps that a provider holds, each for the key that created it. */
import { createHash } from 'node:crypto'
import { depositAddressOn } from '../../support/deposit-addresses.ts'
import type { Order, Swap } from '../order.ts'

const coinsWithMemo: readonly string[] = ['XRP']

export class Holdings {
  private readonly name: string
  private readonly firstMemo: number
  private readonly swaps: { readonly key: string; swap: Swap }[] = []

  /** `name` is of a-z and 0-9; it goes into addresses, memos and amounts, so that no two providers give the same. */
  constructor(name: string) {
    this.name = name
    this.firstMemo = createHash('sha256').update(name).digest().readUInt16BE() * 10_000
  }

  create(key: string, order: Order, id: string | undefined): Swap {
    const number = this.swaps.length + 1
    const now = new Date().toISOString()
    const swap = {
      ...order,
      id: id ?? `tx-${number}`,
      status: 'wait',
      amountTo: `${Number.parseInt(this.name, 36)}.${String(number).padStart(8, '0')}1`,
      depositAddress: depositAddressOn([order.from.network], `${this.name}-${number}`),
      ...(coinsWithMemo.includes(order.from.coin) && { depositExtraId: String(this.firstMemo + number) }),
      createdAt: now,
      updatedAt: now,
    }
    this.swaps.push({ key, swap })
    return swap
  }

  find(key: string, id: string): Swap | undefined {
    return this.swaps.find((held) => held.key === key && held.swap.id === id)?.swap
  }

  /** The oldest first. */
  list(key: string): readonly Swap[] {
    return this.swaps.filter((held) => held.key === key).map(({ swap }) => swap)
  }

  change(id: string, facts: Partial<Swap>): void {
    for (const held of this.swaps) if (held.swap.id === id) held.swap = { ...held.swap, ...facts }
  }
}
