/** The configuration in force: the file, compared with the ledger, with the overrides of the ledger (docs/contract.md §12). */

import { type Config, ConfigError } from '../../config/index.ts'
import { withDefault } from '../../domain/async.ts'
import type { Observer } from '../../domain/observation.ts'
import type { OpenLedger } from '../../ledger/index.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { FollowedOverrides } from './followed-overrides.ts'
import { ledgerWarnings } from './ledger-warnings.ts'
import { type TagReport, Tags } from './tags.ts'

type Stores = Pick<OpenLedger, 'tags' | 'overrides' | 'ledgerAdmin'>

/** The longest wait of a start or a reload for the counts of the ledger. */
const maxCountWaitMs = 1_000

export class ConfigurationInForce {
  readonly tags: Tags
  private readonly overrides: FollowedOverrides
  private readonly stores: Stores
  private current: Config
  private apply: (config: Config) => void = () => {}
  /** A reload and a change of the overrides must not overlap: each starts from the other's result. */
  private readonly runSerially = oneAtATime()

  private constructor(tags: Tags, overrides: FollowedOverrides, stores: Stores) {
    this.tags = tags
    this.overrides = overrides
    this.stores = stores
    this.current = overrides.config
  }

  /** Returns it with warnings for the operator. Throws a `ConfigError` if the ledger contradicts the file. */
  static async open(
    file: Config,
    stores: Stores,
    observe: Observer,
  ): Promise<{ readonly configuration: ConfigurationInForce; readonly warnings: readonly string[] }> {
    const tags = new Tags(stores.tags)
    const warnings = warningsOf(await tags.open(file))
    const overrides = await FollowedOverrides.open(file, stores.overrides, observe)
    return { configuration: new ConfigurationInForce(tags, overrides, stores), warnings }
  }

  get config(): Config {
    return this.current
  }

  get file(): Config {
    return this.overrides.file
  }

  /** From now on `apply` gets each new configuration. */
  onChange(apply: (config: Config) => void): void {
    this.apply = apply
  }

  /** Reads the overrides again. Throws if the ledger cannot be read. */
  follow(): Promise<void> {
    return this.runSerially(async () => {
      await this.overrides.poll()
      if (this.overrides.config !== this.current) this.change()
    })
  }

  /** Applies another file. Returns warnings for the operator. Throws a `ConfigError`, without a change, if the ledger contradicts it. */
  load(file: Config): Promise<readonly string[]> {
    return this.runSerially(async () => {
      const warnings = warningsOf(await this.tags.compare(file))
      await this.overrides.load(file)
      this.change()
      await this.tags.remember(file)
      return [...warnings, ...(await this.ledgerWarnings())]
    })
  }

  /** What the file means for what the ledger has, for the operator. What the ledger does not count soon is left out. */
  async ledgerWarnings(): Promise<readonly string[]> {
    const { ledgerAdmin } = this.stores
    const [openCounts, destinationCounts, assetCounts] = await Promise.all([
      withDefault(ledgerAdmin.openCounts(), maxCountWaitMs, []),
      withDefault(ledgerAdmin.destinationCounts(), maxCountWaitMs, []),
      withDefault(ledgerAdmin.assetCounts(), maxCountWaitMs, []),
    ])
    const counts = { openCounts, destinationCounts, assetCounts }
    return ledgerWarnings(this.file, { ...counts, tags: this.tags.known, overrides: this.overrides.followed })
  }

  /** Waits for a change that is under way. Later ones are not applied. */
  close(): Promise<void> {
    return this.runSerially(async () => {
      this.apply = () => {}
    })
  }

  private change(): void {
    this.apply(this.overrides.config)
    this.current = this.overrides.config
  }
}

function warningsOf({ faults, warnings }: TagReport): readonly string[] {
  if (faults.length > 0) throw new ConfigError(faults)
  return warnings
}
