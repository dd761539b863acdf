import type { Config } from '../../config/index.ts'
import { type Destination, differences } from '../../core/destination.ts'
import type { DestinationCount } from '../../core/ledger-admin.ts'
import { destinationOf } from '../../provider/destination.ts'

const names: Readonly<Record<keyof Destination, string>> = {
  url: 'URL',
  form: 'form',
  timezone: 'timezone',
  account: 'account',
  key: 'key',
  listKey: 'key for lists',
}

/** One line for each provider with creates of open outcome that were sent elsewhere than this file says (docs/contract.md §10.5). */
export function movedWarnings(config: Pick<Config, 'providers' | 'auth'>, counts: readonly DestinationCount[]): readonly string[] {
  return config.providers.flatMap((provider) => {
    const now = destinationOf(provider, config)
    const moved = counts
      .filter((count) => count.provider === provider.tag)
      .map(({ destination, count }) => ({ parts: differences(destination, now), count }))
      .filter(({ parts }) => parts.length > 0)
    const total = moved.reduce((sum, { count }) => sum + count, 0)
    if (total === 0) return []
    const parts = [...new Set(moved.flatMap((each) => each.parts))].map((part) => names[part]).join(', ')
    const [creates, were] = total === 1 ? ['1 create', 'was'] : [`${total} creates`, 'were']
    return [
      `providers.${provider.name}: ${creates} of unknown outcome ${were} sent with another ${parts}: none ends as not created now; what is found here is bound, and the rest waits for a person (swapgate ledger unknown)`,
    ]
  })
}
