/** A process of its own that consumes and reserves what it is sent, all in one turn of its event loop. */
import { openLimitStores } from '../../src/process/limit-stores.ts'

export interface Decision {
  readonly bucket: string
  readonly limit: number
  readonly isBudget: boolean
}

const { limiter, budgets } = await openLimitStores(
  { redis: { url: process.argv[2] ?? '', prefix: 'swapgate' }, replicas: 1, ledger: { url: 'postgres://host/ledger' } },
  () => {},
)

async function isPassed({ bucket, limit, isBudget }: Decision): Promise<boolean> {
  if (isBudget) return (await budgets.reserve(bucket, limit)).isGranted
  return !(await limiter.consume(bucket, limit, 60)).isOver
}

process.on('message', async (decisions: readonly Decision[]) => process.send?.(await Promise.all(decisions.map(isPassed))))
process.once('disconnect', () => process.exit())
process.send?.('ready')
