/** The configuration in force: the file, compared with the ledger, with the overrides of the ledger (docs/contract.md §12). */
import { type Config, ConfigError } from '../config/index.ts'
import { providerStatus, type StatusPorts, type StatusReport } from '../core/operations/provider-status.ts'
import {
  areSameOverride,
  byName,
  type Followed,
  follow,
  heldBy,
  keyByName,
  type Override,
  type OverrideStore,
  type ShownChange,
  type StoredOverride,
  settingOf,
  sleeping,
  withOverrides,
} from '../core/operations/settings.ts'
import { withDefault, withTimeout } from '../domain/async.ts'
import type { Observer, OverrideChanged } from '../domain/observation.ts'
import type { OpenLedger } from '../ledger/index.ts'
import { type TagReport, Tags } from './tags.ts'
import { ledgerWarnings } from './warnings.ts'

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

// The configuration in force in this process: its file with the overrides that it follows (docs/contract.md §12).

/** The longest wait of a reload for the ledger. */
const maxWaitMs = 1_000
const maxPollMs = 3_000

/** Not safe for concurrent calls. */
class FollowedOverrides {
  private readonly store: OverrideStore
  private readonly observe: Observer
  /** As last read; used while the ledger is unavailable. */
  private stored: readonly StoredOverride[]
  private state: Followed<Config>
  private current: Config

  private constructor(store: OverrideStore, observe: Observer, stored: readonly StoredOverride[], state: Followed<Config>) {
    this.store = store
    this.observe = observe
    this.stored = stored
    this.state = state
    this.current = withOverrides(state.file, state.applied)
  }

  /** Throws where they cannot be read. */
  static async open(file: Config, store: OverrideStore, observe: Observer): Promise<FollowedOverrides> {
    const stored = await store.readAll()
    const state = follow(file, stored)
    const followed = new FollowedOverrides(store, observe, stored, state)
    for (const override of state.ended) followed.report('ended', override)
    await followed.record()
    return followed
  }

  /** The configuration file. */
  get file(): Config {
    return this.state.file
  }

  /** In force now: the same object until that changes. */
  get config(): Config {
    return this.current
  }

  /** Those in force, and those that sleep. */
  get followed(): Pick<Followed<Config>, 'applied' | 'asleep'> {
    return this.state
  }

  /** From now on this is the file. */
  async load(file: Config): Promise<void> {
    await this.take(file, await withDefault(this.store.readAll(), maxWaitMs, this.stored))
  }

  /** Throws where the ledger cannot be read. */
  async poll(): Promise<void> {
    const stored = await withTimeout(this.store.readAll(), maxPollMs, () => {
      throw new Error('the ledger does not answer in time')
    })
    await this.take(this.state.file, stored)
  }

  private async take(file: Config, stored: readonly StoredOverride[]): Promise<void> {
    const before = this.state
    this.stored = stored
    this.state = follow(file, this.stored, before)
    const { applied, asleep, ended } = this.state
    const added = without(applied, before.applied)
    const gone = without(before.applied, applied).filter(({ key }) => !added.some((override) => override.key === key))
    for (const override of added) this.report('applied', override)
    const isAsleep = (override: Override): boolean => asleep.some((other) => areSameOverride(other, override))
    for (const override of gone) this.report(this.isReset(override) ? 'reset' : isAsleep(override) ? 'asleep' : 'ended', override)
    for (const override of without(ended, [...before.ended, ...before.applied])) this.report('ended', override)
    const isOther = file !== before.file || added.length > 0 || gone.length > 0
    if (isOther) this.current = withOverrides(file, applied)
    await this.record()
  }

  private isReset(override: Override): boolean {
    return !this.stored.some((other) => areSameOverride(other, override))
  }

  private report(change: OverrideChanged['change'], override: Override): void {
    const { key, before, after } = this.shown(override)
    this.observe({ what: 'override', key, change, value: before, fileValue: after, actor: override.actor })
  }

  /** With names: its value, and that of the file. */
  private shown({ key, value }: Override): ShownChange {
    const { file } = this.state
    return { key: keyByName(file, key), before: byName(file, value), after: byName(file, settingOf(file, key)) }
  }

  /** Ends overrides in the ledger that the file has made invalid. What fails now is repeated with the next poll. */
  private async record(): Promise<void> {
    const { ended, forgotten } = this.state
    const changes = [
      ...ended.map((override) => this.store.end(override, this.shown(override))),
      ...forgotten.map((override) => this.store.forget(override)),
    ]
    await withDefault(Promise.allSettled(changes), maxWaitMs, undefined)
  }
}

function without(overrides: readonly Override[], others: readonly Override[]): readonly Override[] {
  return overrides.filter((override) => !others.some((other) => areSameOverride(other, override)))
}

// The configuration in force: the file with the operators' overrides (docs/contract.md §12).

/** Applies the overrides that are valid with this file. */
export function effectiveConfig(file: Config, overrides: readonly Override[]): Config {
  return withOverrides(file, heldBy(file, overrides))
}

/** Every provider by what is in force, if the file is that of the gateways. */
export async function currentStatus(file: Config, ports: StatusPorts): Promise<StatusReport> {
  const stored = await ports.overrides.read()
  const held = heldBy(file, stored)
  const reported = [...held, ...sleeping(file, stored)]
  return await providerStatus(withOverrides(file, held), { ...ports, overrides: { read: async () => reported } })
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
