/** Rows of a ledger over a year: a tenth belongs to one account, the others to accounts of a thousand each. */

export const heavy = 'heavy'
export const provider = 'alpha'
/** When the year begins, and how long it is, in nanoseconds. */
export const start = 1_735_689_600_000_000_000n
export const year = 365n * 86_400_000_000_000n

export interface Row {
  readonly intent: string
  readonly owner: string
  readonly id: string
  readonly createdAt: bigint
}

/** The oldest first, as they would come. */
export function* rowsOf(count: number): Generator<Row> {
  const step = year / BigInt(count)
  for (let n = 0; n < count; n++) {
    const owner = n % 10 === 0 ? heavy : `owner-${(n * 7) % Math.ceil((count * 9) / 10_000)}`
    yield {
      intent: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      owner,
      id: `tx-${n}`,
      createdAt: start + step * BigInt(n),
    }
  }
}

export const requestJson = JSON.stringify({
  codeFrom: 'BTC',
  coinFrom: 'BTC',
  networkFrom: 'BTC',
  codeTo: 'USDTTRC20',
  coinTo: 'USDT',
  networkTo: 'TRX',
  amountIn: '0.123456789012345678',
  withdrawalAddress: 'TJRyWwFs9wTFGZg3JbrVriFbNfCug5tDeC',
  refundAddress: 'bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh',
  rateType: 'float',
})

export function recordJson({ id, createdAt }: Row): string {
  const transaction = {
    ...JSON.parse(requestJson),
    id,
    amountOut: '8127.650000000000000001',
    rate: '65832.1',
    depositAddress: `bc1q${id.padStart(38, '0')}`,
    createdAt: new Date(Number(createdAt / 1_000_000n)).toISOString(),
  }
  return JSON.stringify({ transaction, derived: ['rate', 'updatedAt'], quotedAmountOut: '8127.65' })
}
