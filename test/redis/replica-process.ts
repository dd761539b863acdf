/** A process of its own that consumes and reserves what it is sent, all in one turn of its event loop. */
import { openLimitStores } from '../../src/process/limit-stores.ts'

/** `counting` is of a limit; a budget has none. */
export interface Decision {
  readonly bucket: string
  readonly limit: number
  readonly counting: 'all' | 'admitted' | undefined
}

const { limiter, budgets } = await openLimitStores(
  { redis: { url: process.argv[2] ?? '', prefix: 'swapgate' }, replicas: 1, ledger: { url: 'postgres://host/ledger' } },
  () => {},
)

async function isPassed({ bucket, limit, counting }: Decision): Promise<boolean> {
  if (counting === undefined) return (await budgets.reserve(bucket, limit)).isGranted
  return !(await limiter.consume(bucket, limit, 60, counting)).isOver
}

process.on('message', async (decisions: readonly Decision[]) => process.send?.(await Promise.all(decisions.map(isPassed))))
process.once('disconnect', () => process.exit())
process.send?.('ready')
