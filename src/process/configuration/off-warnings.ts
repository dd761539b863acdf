import type { Config } from '../../config/index.ts'
import type { OpenCount } from '../../core/ledger-admin.ts'

/** One line for each provider that the file takes out of use while something is open there (docs/contract.md §12). */
export function offWarnings({ providers }: Pick<Config, 'providers'>, counts: readonly OpenCount[]): readonly string[] {
  return providers.flatMap(({ name, tag, state }) => {
    const open = counts.filter(({ provider }) => provider === tag).reduce((sum, { count }) => sum + count, 0)
    if (state !== 'off' || open === 0) return []
    const transactions = open === 1 ? '1 open transaction or create' : `${open} open transactions or creates`
    return [`providers.${name}.state is off with ${transactions}: they stay as last seen until it is active or draining`]
  })
}
