import { describe, expect, it } from 'vitest'
import type { ProviderState } from '../../domain/swap/provider-state.ts'
import { type Followed, follow } from './follow.ts'
import type { Override, StoredOverride } from './overrides.ts'
import type { RoutingSettings } from './settings.ts'

interface FileFacts {
  readonly alpha?: ProviderState
  readonly weights?: Readonly<Record<string, number>>
  readonly names?: readonly string[]
}

function fileOf({ alpha = 'active', weights, names = ['alpha', 'beta'] }: FileFacts = {}): RoutingSettings {
  const providers = names.map((name) => ({ name, tag: name, state: name === 'alpha' ? alpha : ('active' as const) }))
  return { providers, routing: { strategy: 'weighted', providers: names, weights } }
}

const drained: Override = { key: 'state:alpha', value: 'draining', fileValue: 'active', actor: 'alice', since: 5 }
const open = (override: Override): StoredOverride => ({ ...override, isEnded: false })
const ended = (override: Override): StoredOverride => ({ ...override, isEnded: true })

/** The state of a replica after each step: a new file, or new overrides in the ledger. */
class Replica {
  state: Followed
  private stored: readonly StoredOverride[]

  constructor(file: RoutingSettings, stored: readonly StoredOverride[] = []) {
    this.stored = stored
    this.state = follow(file, stored)
  }

  reads(file: RoutingSettings): this {
    this.state = follow(file, this.stored, this.state)
    return this
  }

  finds(...stored: readonly StoredOverride[]): this {
    this.stored = stored
    return this.reads(this.state.file)
  }

  get result() {
    const { applied, ended, forgotten } = this.state
    return { applied: applied.map(({ value }) => value), ended: ended.length, forgotten: forgotten.length }
  }
}

const nothing = { applied: [], ended: 0, forgotten: 0 }
const isDraining = { ...nothing, applied: ['draining'] }
const endsIt = { ...nothing, ended: 1 }

describe('one replica', () => {
  it('applies an override from its start, and a later one, until it is removed', () => {
    const replica = new Replica(fileOf(), [open(drained)])
    expect(replica.result).toEqual(isDraining)
    expect(replica.finds().result).toEqual(nothing)
    expect(replica.finds(open({ ...drained, since: 9 })).result).toEqual(isDraining)
  })

  it('O4: ends an override when its file changes, and again while the ledger does not have it as ended', () => {
    const replica = new Replica(fileOf(), [open(drained)]).reads(fileOf({ alpha: 'off' }))
    expect(replica.result).toEqual(endsIt)
    expect(replica.finds(open(drained)).result).toEqual(endsIt)
    expect(replica.finds(ended(drained)).result).toEqual(nothing)
  })

  it('O4: ends it at its start if the file was changed while nothing ran', () => {
    expect(new Replica(fileOf({ alpha: 'off' }), [open(drained)]).result).toEqual(endsIt)
    expect(new Replica(fileOf({ alpha: 'draining' }), [open(drained)]).result).toEqual(endsIt)
  })

  it('O4: keeps it when another part of the file changes', () => {
    const replica = new Replica(fileOf(), [open(drained)]).reads(fileOf({ weights: { alpha: 1, beta: 2 } }))
    expect(replica.result).toEqual(isDraining)
  })

  it('O5: a file that flips back does not bring an override back', () => {
    const running = new Replica(fileOf(), [open(drained)]).reads(fileOf({ alpha: 'off' }))
    expect(running.reads(fileOf()).result).toEqual(endsIt)
    expect(running.finds(ended(drained)).result).toEqual(nothing)
  })

  it('O5: not at a start either', () => {
    expect(new Replica(fileOf(), [ended(drained)]).result).toEqual({ ...nothing, forgotten: 1 })
    expect(new Replica(fileOf({ alpha: 'off' }), [ended(drained)]).result).toEqual(nothing)
  })

  it('applies the replacement of an override that has ended', () => {
    const replica = new Replica(fileOf(), [open(drained)]).reads(fileOf({ alpha: 'off' })).finds(ended(drained))
    expect(replica.finds(open({ ...drained, fileValue: 'off', since: 9 })).result).toEqual(isDraining)
  })

  it('O6: ends the overrides of a provider that the file no longer has', () => {
    const one = fileOf({ names: ['beta'] })
    expect(new Replica(fileOf(), [open(drained)]).reads(one).result).toEqual(endsIt)
    expect(new Replica(one, [open(drained)]).result).toEqual(endsIt)
    const weights: Override = { key: 'weights', value: { alpha: 1, beta: 0 }, fileValue: null, actor: 'alice', since: 5 }
    expect(new Replica(fileOf(), [open(weights)]).reads(one).result).toEqual(endsIt)
    const shadow: Override = { ...weights, key: 'shadow', value: { provider: 'alpha', sample: 1 } }
    expect(new Replica(fileOf(), [open(shadow)]).result.applied).toHaveLength(1)
    expect(new Replica(fileOf(), [open(shadow)]).reads(one).result).toEqual(endsIt)
  })

  it('is not misled by names', () => {
    const strange: Override = { ...drained, key: 'state:__proto__' }
    expect(new Replica(fileOf({ names: ['__proto__', 'alpha'] }), [open(strange)]).result).toEqual(isDraining)
    expect(new Replica(fileOf(), [open(strange)]).result).toEqual(endsIt)
    const same = { weights: { beta: 2, alpha: 1 } }
    const weights: Override = { ...drained, key: 'weights', value: { alpha: 1, beta: 0 }, fileValue: { alpha: 1, beta: 2 } }
    expect(new Replica(fileOf(same), [open(weights)]).result.applied).toHaveLength(1)
  })
})

describe('a rolling deployment', () => {
  const newFile = fileOf({ alpha: 'off' })

  it('O7: a replica with the old file keeps an override that a newer file has ended', () => {
    const old = new Replica(fileOf(), [open(drained)])
    expect(new Replica(newFile, [open(drained)]).result).toEqual(endsIt)
    expect(old.finds(ended(drained)).result).toEqual(isDraining)
    expect(old.finds(ended(drained)).result).toEqual(isDraining)
    expect(old.reads(newFile).result).toEqual(nothing)
  })

  it('O7: and drops it when an operator removes it, or a replica is started with the old file again', () => {
    const old = new Replica(fileOf(), [open(drained)]).finds(ended(drained))
    expect(new Replica(fileOf(), [ended(drained)]).result).toEqual({ ...nothing, forgotten: 1 })
    expect(old.finds().result).toEqual(nothing)
  })

  const newer: Override = { key: 'state:alpha', value: 'active', fileValue: 'off', actor: 'bob', since: 7 }

  it('O7: an override for a newer file is applied by replicas with the old one', () => {
    const old = new Replica(fileOf()).finds(open(newer))
    expect(old.result.applied).toEqual(['active'])
    expect(old.reads(newFile).result.applied).toEqual(['active'])
  })

  it('O7: an override for the old file is applied by replicas with a newer one, until the old one is gone', () => {
    const [old, next] = [new Replica(fileOf()), new Replica(newFile)]
    expect(next.finds(open(drained)).result).toEqual(isDraining)
    expect(old.finds(open(drained)).reads(newFile).result).toEqual(endsIt)
    expect(next.finds(ended(drained)).result).toEqual(nothing)
  })

  it('O7: an override of a provider that only the newer file has is not ended by any replica', () => {
    const gamma: Override = { ...newer, key: 'state:gamma', value: 'draining', fileValue: 'active' }
    const three = fileOf({ names: ['alpha', 'beta', 'gamma'] })
    const old = new Replica(fileOf()).finds(open(gamma))
    expect(old.result).toEqual(nothing)
    expect(old.reads(three).result).toEqual(isDraining)
  })
})
