/** Whether the providers of a configuration are those whose transactions the ledger has under their tags (docs/contract-operators.md §10.5). */
import type { Config, ConfigFault, Provider } from '../config/index.ts'
import type { ConfiguredTag, TagRecord, TagRecords } from '../core/routing/tag-records.ts'
import { withDefault } from '../domain/async.ts'
import { baseUrlOf } from '../provider/connected-provider.ts'

export interface TagReport {
  readonly faults: readonly ConfigFault[]
  readonly warnings: readonly string[]
}

type Providers = Pick<Config, 'providers'>

export function compareTags({ providers }: Providers, records: readonly TagRecord[]): TagReport {
  const faults: ConfigFault[] = []
  const warnings: string[] = []
  for (const { name, form, ...provider } of providers) {
    const { tag, url, account } = configuredTag({ ...provider, form })
    const known = records.find((record) => record.tag === tag)
    const path = `providers.${name}`
    if (known?.isUsed && known.form !== undefined && known.form !== form) {
      const message = `the ledger has transactions of the tag ${tag} in form ${known.form}: another service needs a tag of its own`
      faults.push({ path: `${path}.form`, message })
    }
    if (known?.url === url) continue
    const other = records.find((record) => record.tag !== tag && record.url === url && record.account !== account)
    if (known?.isUsed && other) {
      const message = `the ledger has transactions of the tag ${tag}, and this URL under the tag ${other.tag}: leave each tag to its own service`
      faults.push({ path: `${path}.url`, message })
    } else if (known?.url !== undefined) {
      warnings.push(`${path}.url: transactions of the tag ${tag} were at ${known.url}, and are read at ${url} from now on`)
    }
  }
  return { faults, warnings }
}

function configuredTag({ tag, form, url, account }: Pick<Provider, 'tag' | 'form' | 'url' | 'account'>): ConfiguredTag {
  return { tag, form, url: baseUrlOf(url), account }
}

export function configuredTags({ providers }: Providers): readonly ConfiguredTag[] {
  return providers.map(configuredTag)
}

/** A reload does not wait longer for the ledger than this. */
const maxWaitMs = 1_000

/** The tags of a process that runs: while the ledger is lost, what was last read of it counts. */
export class Tags {
  private readonly records: TagRecords
  private lastRead: readonly TagRecord[] = []
  private unwritten: readonly ConfiguredTag[] | undefined

  constructor(records: TagRecords) {
    this.records = records
  }

  /** As last read and configured. */
  get known(): readonly TagRecord[] {
    return this.lastRead
  }

  /** Throws where the ledger cannot be read. */
  async open(config: Providers): Promise<TagReport> {
    this.lastRead = await this.read(config)
    return compareTags(config, this.lastRead)
  }

  async compare(config: Providers): Promise<TagReport> {
    const read = await withDefault(this.read(config), maxWaitMs, undefined)
    if (read) this.lastRead = read
    // Of what cannot be read now it is not known whether it has transactions by now.
    return compareTags(config, read ?? this.lastRead.map((record) => ({ ...record, isUsed: true })))
  }

  /** From now on this is how they were last configured. What the ledger cannot take now is noted with the next `flush`. */
  async remember(config: Providers): Promise<void> {
    const tags = configuredTags(config)
    const before = this.lastRead.filter((record) => !tags.some(({ tag }) => tag === record.tag))
    this.lastRead = [...before, ...tags.map((tag) => ({ ...tag, isUsed: this.isUsed(tag.tag) }))]
    this.unwritten = tags
    await this.flush()
  }

  async flush(): Promise<void> {
    const tags = this.unwritten
    if (!tags) return
    const isWritten = await this.records.save(tags).then(
      () => true,
      () => false,
    )
    if (isWritten && this.unwritten === tags) this.unwritten = undefined
  }

  private read(config: Providers): Promise<readonly TagRecord[]> {
    return this.records.read(configuredTags(config).map(({ tag }) => tag))
  }

  private isUsed(tag: string): boolean {
    return this.lastRead.some((record) => record.tag === tag && record.isUsed)
  }
}
