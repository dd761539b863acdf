import { limits } from './limits.ts'
import { overview } from './overview.ts'
import { providers } from './providers.ts'
import { transactions } from './transactions.ts'

/** The text of each file, by its name. */
export function dashboards(): Readonly<Record<string, string>> {
  const built = [overview, providers, limits, transactions].map((builder) => builder.build())
  return Object.fromEntries(
    built.map((board) => [`${board.uid?.replace('swapgate-', '')}.json`, `${JSON.stringify(board, null, 2)}\n`]),
  )
}
