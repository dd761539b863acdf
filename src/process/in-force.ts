/** The configuration in force in this process: its file, the overrides in the ledger that it follows, the result, and the gateway that runs with it (docs/contract-operators.md §12). */
import { type Config, ConfigError } from '../config/index.ts'
import {
  byName,
  type Followed,
  follow,
  type InForce,
  isAmong,
  keyByName,
  type Override,
  type ShownChange,
  type StoredOverride,
  settingOf,
  without,
} from '../core/operations/settings.ts'
import { withDefault, withTimeout } from '../domain/async.ts'
import type { Observer, OverrideChanged } from '../domain/observation.ts'
import type { OpenLedger } from '../ledger/index.ts'
import type { RunningGateway } from './running-gateway.ts'
import { type TagReport, Tags } from './tags.ts'
import { ledgerWarnings, unclearAssets } from './warnings.ts'

type Stores = Pick<OpenLedger, 'tags' | 'overrides' | 'ledgerAdmin' | 'currencyLists'>
type Running = Pick<
  RunningGateway,
  'handle' | 'reconcile' | 'pollTransactions' | 'readWatched' | 'connected' | 'operatorActions' | 'retire'
>

/** The longest waits of a start or a reload for the counts of the ledger, of a reload for its overrides, and of a look at these. */
const maxCountWaitMs = 1_000
const maxOverrideWaitMs = 1_000
const maxPollMs = 3_000

export class ConfigurationInForce {
  readonly tags: Tags
  private readonly stores: Stores
  private readonly observe: Observer
  /** As last read; used while the ledger is unavailable. */
  private stored: readonly StoredOverride[]
  private followed: Followed<Config>
  private build: ((config: Config) => Running) | undefined
  private running: { readonly config: Config; readonly gateway: Running } | undefined
  /** A reload and a change of the overrides must not overlap: each starts from the other's result. */
  private readonly runSerially = oneAtATime()

  private constructor(
    tags: Tags,
    stores: Stores,
    observe: Observer,
    stored: readonly StoredOverride[],
    followed: Followed<Config>,
  ) {
    this.tags = tags
    this.stores = stores
    this.observe = observe
    this.stored = stored
    this.followed = followed
  }

  /**
   * Returns it with warnings for the operator; no gateway runs yet. Throws a `ConfigError` if the ledger contradicts the file, and where
   * the ledger cannot be read.
   */
  static async open(
    file: Config,
    stores: Stores,
    observe: Observer,
  ): Promise<{ readonly configuration: ConfigurationInForce; readonly warnings: readonly string[] }> {
    const tags = new Tags(stores.tags)
    const warnings = warningsOf(await tags.open(file))
    const stored = await stores.overrides.readAll()
    const configuration = new ConfigurationInForce(tags, stores, observe, stored, follow(file, stored))
    for (const override of configuration.followed.ended) configuration.report('ended', override)
    await configuration.record()
    return { configuration, warnings }
  }

  /** The configuration file, as read last. */
  get file(): Config {
    return this.followed.file
  }

  /** Those in force, and those that sleep. */
  get overrides(): Pick<InForce<Config>, 'applied' | 'asleep'> {
    return this.followed
  }

  /** The file with the overrides: what the gateway runs with. */
  get config(): Config {
    return this.running?.config ?? this.followed.settings
  }

  get gateway(): Running {
    if (!this.running) throw new Error('no gateway runs yet')
    return this.running.gateway
  }

  /** Builds the gateway, and again with each change. Requests in flight end with the one that they began with. */
  run(build: (config: Config) => Running): void {
    this.build = build
    this.replace()
  }

  /** Reads the overrides again. Throws if the ledger cannot be read. */
  follow(): Promise<void> {
    return this.runSerially(async () => {
      const stored = await withTimeout(this.stores.overrides.readAll(), maxPollMs, () => {
        throw new Error('the ledger does not answer in time')
      })
      await this.take(this.file, stored)
      if (this.followed.settings !== this.config) this.replace()
    })
  }

  /**
   * Applies another file. Returns warnings for the operator. Throws a `ConfigError`, without a change, if the
   * ledger has another form or URL for one of its tags.
   */
  load(file: Config): Promise<readonly string[]> {
    return this.runSerially(async () => {
      const warnings = warningsOf(await this.tags.compare(file))
      await this.take(file, await withDefault(this.stores.overrides.readAll(), maxOverrideWaitMs, this.stored))
      this.replace()
      await this.tags.remember(file)
      return [...warnings, ...(await this.ledgerWarnings())]
    })
  }

  /** What the file means for what the ledger has, for the operator. What the ledger does not count soon is left out. */
  async ledgerWarnings(): Promise<readonly string[]> {
    const { ledgerAdmin, currencyLists } = this.stores
    const listedTwice = unclearAssets(this.file, async (source) => (await currencyLists.loadCurrencies(source))?.rows)
    const [openCounts, destinationCounts, assetCounts, unclear] = await Promise.all([
      withDefault(ledgerAdmin.openCounts(), maxCountWaitMs, []),
      withDefault(ledgerAdmin.destinationCounts(), maxCountWaitMs, []),
      withDefault(ledgerAdmin.assetCounts(), maxCountWaitMs, []),
      withDefault(listedTwice, maxCountWaitMs, []),
    ])
    const counts = { openCounts, destinationCounts, assetCounts }
    return [...ledgerWarnings(this.file, { ...counts, tags: this.tags.known, overrides: this.overrides }), ...unclear]
  }

  /** Waits for a change that is under way. Later ones are not applied. */
  close(): Promise<void> {
    return this.runSerially(async () => {
      this.build = undefined
    })
  }

  private replace(): void {
    if (!this.build) return
    const previous = this.running
    const config = this.followed.settings
    this.running = { config, gateway: this.build(config) }
    previous?.gateway.retire()
  }

  private async take(file: Config, stored: readonly StoredOverride[]): Promise<void> {
    const before = this.followed
    this.stored = stored
    this.followed = follow(file, stored, before)
    const { applied, asleep, ended } = this.followed
    const added = without(applied, before.applied)
    const gone = without(before.applied, applied).filter(({ key }) => !added.some((override) => override.key === key))
    for (const override of added) this.report('applied', override)
    for (const override of gone)
      this.report(isAmong(stored, override) ? (isAmong(asleep, override) ? 'asleep' : 'ended') : 'reset', override)
    for (const override of without(ended, [...before.ended, ...before.applied])) this.report('ended', override)
    await this.record()
  }

  private report(change: OverrideChanged['change'], override: Override): void {
    const { key, before, after } = this.shown(override)
    this.observe({ what: 'override', key, change, value: before, fileValue: after, actor: override.actor })
  }

  /** With names: its value, and that of the file. */
  private shown({ key, value }: Override): ShownChange {
    const { file } = this
    return { key: keyByName(file, key), before: byName(file, value), after: byName(file, settingOf(file, key)) }
  }

  /** Ends overrides in the ledger that the file has made invalid. What fails now is repeated with the next look. */
  private async record(): Promise<void> {
    const { ended, forgotten } = this.followed
    const { overrides } = this.stores
    const changes = [
      ...ended.map((override) => overrides.end(override, this.shown(override))),
      ...forgotten.map((override) => overrides.forget(override)),
    ]
    await withDefault(Promise.allSettled(changes), maxOverrideWaitMs, undefined)
  }
}

function warningsOf({ faults, warnings }: TagReport): readonly string[] {
  if (faults.length > 0) throw new ConfigError(faults)
  return warnings
}

/** Runs work in the order of the calls, one at a time. A failure does not stop the next. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
}
