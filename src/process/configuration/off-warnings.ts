import type { Config } from '../../config/index.ts'
import type { OpenCount } from '../../core/ledger-admin.ts'
import { openAt } from '../../core/operations/consequences.ts'
import { unconfiguredTags } from '../../core/operations/provider-status.ts'
import type { TagRecord } from '../../core/routing/tag-records.ts'
import { configuredTags } from './tags.ts'

/** One line for each provider that the file takes out of use, or lacks, while something is open there (docs/contract.md §12). */
export function offWarnings(
  { providers, routing, auth }: Pick<Config, 'providers' | 'routing' | 'auth'>,
  counts: readonly OpenCount[],
  records: readonly TagRecord[],
): readonly string[] {
  const off = providers.filter(({ tag, state }) => state === 'off' && openAt(counts, tag) > 0)
  const unlisted =
    auth.mode === 'passthrough' ? providers.filter(({ name, state }) => state !== 'off' && !routing.providers.includes(name)) : []
  return [
    ...unlisted
      .filter(({ tag }) => openAt(counts, tag) > 0)
      .map(
        ({ name, tag }) =>
          `providers.${name} is not in routing.providers and has ${openText(counts, tag)}: lists have only what the ledger holds of a key there`,
      ),
    ...off.map(
      ({ name, tag }) =>
        `providers.${name}.state is off with ${openText(counts, tag)}: they stay as last seen until it is active or draining`,
    ),
    ...unconfiguredTags({ providers }, counts).map((tag) => {
      const renamed = renamedTo(tag, providers, records)
      const hint = renamed === undefined ? '' : `; providers.${renamed} has its URL: tag: ${tag} there keeps them`
      return `providers has no tag ${tag}, which has ${openText(counts, tag)}: they stay as last seen until a provider has that tag again${hint}`
    }),
  ]
}

function openText(counts: readonly OpenCount[], tag: string): string {
  const open = openAt(counts, tag)
  return open === 1 ? '1 open transaction or create' : `${open} open transactions or creates`
}

/** The provider that has the URL which the tag had last. */
function renamedTo(tag: string, providers: Config['providers'], records: readonly TagRecord[]): string | undefined {
  const url = records.find((record) => record.tag === tag)?.url
  const heir = url === undefined ? undefined : configuredTags({ providers }).find((configured) => configured.url === url)
  return providers.find((provider) => provider.tag === heir?.tag)?.name
}
