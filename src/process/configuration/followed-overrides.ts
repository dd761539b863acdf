/** The configuration in force in this process: its file with the overrides that it follows (docs/contract.md §12). */
import type { Config } from '../../config/index.ts'
import type { Override, OverrideStore, ShownChange, StoredOverride } from '../../core/operations/settings.ts'
import {
  areSameOverride,
  byName,
  type Followed,
  follow,
  keyByName,
  settingOf,
  withOverrides,
} from '../../core/operations/settings.ts'
import { withDefault, withTimeout } from '../../domain/async.ts'
import type { Observer, OverrideChanged } from '../../domain/observation.ts'

/** The longest wait of a reload for the ledger. */
const maxWaitMs = 1_000
const maxPollMs = 3_000

/** Not safe for concurrent calls. */
export class FollowedOverrides {
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
