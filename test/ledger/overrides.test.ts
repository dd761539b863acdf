/** What a person has set in place of the configuration file (docs/contract-operators.md §12). */
import { expect, test } from 'vitest'
import type { Override, OverrideChange, StoredOverride } from '../../src/core/operations/settings.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

const actor = 'cli:alice@box'
const drain: OverrideChange = {
  key: 'state:alpha',
  value: 'draining',
  fileValue: 'active',
  shown: { key: 'state:alpha', before: 'active', after: 'draining' },
}
const weights: OverrideChange = {
  key: 'weights',
  value: { alpha: 0, beta: 100 },
  fileValue: null,
  shown: { key: 'weights', before: null, after: { alpha: 0, beta: 100 } },
}
const ending = { key: 'state:alpha', before: 'draining', after: 'off' } as const

const withoutTime = ({ since: _, ...override }: Override) => override

function only<T>(list: readonly T[]): T {
  const [first] = list
  if (first === undefined || list.length !== 1) throw new Error(`${list.length} in place of one`)
  return first
}

describeStores(allStores, (shared) => {
  test('O2: what is set together is there together, with a record each', async () => {
    const { overrides, audit } = await shared().openNew()
    expect(await overrides.read()).toEqual([])
    expect(await overrides.change([drain, weights], actor)).toBe(true)
    const kept = await overrides.read()
    expect(kept.map(withoutTime)).toStrictEqual([
      { key: 'state:alpha', value: 'draining', fileValue: 'active', actor },
      { key: 'weights', value: { alpha: 0, beta: 100 }, fileValue: null, actor },
    ])
    for (const { since } of kept) expect(Math.abs(since - Date.now())).toBeLessThan(60_000)
    const records = await audit.read({})
    expect(records.map(({ id: _, at: __, ...record }) => record)).toStrictEqual([
      { actor, action: 'routing.weights', subject: 'routing', before: null, after: { alpha: 0, beta: 100 } },
      { actor, action: 'provider.state', subject: 'alpha', before: 'active', after: 'draining' },
    ])
  })

  test('O2: an override takes the place of the one before; the same again changes nothing and is no record', async () => {
    const { overrides, audit } = await shared().openNew()
    await overrides.change([drain], actor)
    const kept = await overrides.read()
    await overrides.change([drain], 'bob')
    expect(await overrides.read()).toEqual(kept)
    await overrides.change([{ ...drain, value: 'off', shown: { ...drain.shown, before: 'draining', after: 'off' } }], 'bob')
    expect((await overrides.read()).map(withoutTime)).toEqual([
      { key: 'state:alpha', value: 'off', fileValue: 'active', actor: 'bob' },
    ])
    expect((await audit.read({})).map(({ after }) => after)).toEqual(['off', 'draining'])
  })

  test('O2: what is taken back is gone, with a record; what is not there is none', async () => {
    const { overrides, audit } = await shared().openNew()
    await overrides.change([drain], actor)
    const shown = { ...drain.shown, before: 'draining', after: 'active' } as const
    const reset: OverrideChange = { ...drain, value: undefined, shown }
    await overrides.change([reset, { ...reset, key: 'state:beta' }], 'bob')
    expect(await overrides.read()).toEqual([])
    const [newest, ...older] = await audit.read({})
    expect(newest).toMatchObject({
      actor: 'bob',
      action: 'override.reset',
      subject: 'state:alpha',
      before: 'draining',
      after: 'active',
    })
    expect(older).toHaveLength(1)
  })

  test('O2: no mirror is a value, names may be any word, and a value of another version is left out', async () => {
    const { overrides } = await shared().openNew()
    const strange = { ...drain, key: 'state:__proto__', value: 'off' } as const
    const values = JSON.parse('{"__proto__": 5, "constructor": 0}')
    await overrides.change([{ ...weights, key: 'mirror', value: null, fileValue: { provider: 'beta', sample: 0.5 } }], actor)
    await overrides.change([strange, { ...weights, value: values }], actor)
    await overrides.change([{ ...drain, value: 'of another version' as never }], actor)
    const kept = await overrides.read()
    expect(kept.map(({ key }) => key)).toEqual(['mirror', 'state:__proto__', 'weights'])
    expect(kept[0]?.value).toBeNull()
    expect(JSON.stringify(kept[2]?.value)).toBe('{"__proto__":5,"constructor":0}')
  })

  test('O3: of two people with the same state at once, the second gets a conflict, and changes nothing', async () => {
    const { overrides, audit } = await shared().openNew()
    const before = await overrides.read()
    const other = { ...drain, key: 'state:beta' } as const
    const results = await Promise.all([overrides.change([drain], 'alice', before), overrides.change([other], 'bob', before)])
    expect(results.toSorted()).toEqual([false, true])
    expect(await overrides.read()).toHaveLength(1)
    expect(await audit.read({})).toHaveLength(1)
    expect(await overrides.change([drain], 'alice', await overrides.read())).toBe(true)
  })

  test('O4: an override that ends is reported once, by the first process, and stays for processes with the old file', async () => {
    const { overrides, audit } = await shared().openNew()
    await overrides.change([drain], actor)
    const override = only(await overrides.read())
    const results = await Promise.all([overrides.end(override, ending), overrides.end(override, ending)])
    expect(results.toSorted()).toEqual([false, true])
    expect(await overrides.read()).toEqual([])
    expect(await overrides.readAll()).toEqual<StoredOverride[]>([{ ...override, isEnded: true }])
    const record = { actor: 'file', action: 'override.ended', subject: 'state:alpha', before: 'draining', after: 'off' }
    expect((await audit.read({}))[0]).toMatchObject(record)
    expect(await audit.read({})).toHaveLength(2)
  })

  test('O4: an override that another has replaced is neither ended nor deleted', async () => {
    const { overrides } = await shared().openNew()
    await overrides.change([drain], actor)
    const old = only(await overrides.read())
    await overrides.end(old, ending)
    await overrides.change([{ ...drain, fileValue: 'off' }], 'bob')
    expect(await overrides.end(old, ending)).toBe(false)
    await overrides.forget(old)
    expect((await overrides.readAll()).map(({ fileValue, isEnded }) => [fileValue, isEnded])).toEqual([['off', false]])
  })

  test('O4: an override that has not ended is not forgotten; one that has ended is, and is set again like a new one', async () => {
    const { overrides } = await shared().openNew()
    await overrides.change([drain], actor)
    const override = only(await overrides.read())
    await overrides.forget(override)
    expect(await overrides.read()).toHaveLength(1)
    await overrides.end(override, ending)
    await overrides.change([drain], actor)
    expect(await overrides.read()).toHaveLength(1)
    await overrides.end(only(await overrides.read()), ending)
    await overrides.forget(only(await overrides.readAll()))
    expect(await overrides.readAll()).toEqual([])
  })
})

describeStores(durableStores, (shared) => {
  test('O3: two processes at once set one each, and neither is lost', async () => {
    const { url, overrides } = await shared().openNew()
    const other = await openLedger(url)
    const set = async (store: typeof overrides, name: string): Promise<void> => {
      while (!(await store.change([{ ...drain, key: `state:${name}` }], name, await store.read()))) {}
    }
    await Promise.all([...'abcd'].flatMap((name) => [set(overrides, name), set(other.overrides, `${name}${name}`)]))
    expect(await overrides.read()).toEqual(await other.overrides.read())
    expect((await overrides.read()).map(({ actor: by }) => by)).toEqual(['a', 'aa', 'b', 'bb', 'c', 'cc', 'd', 'dd'])
    await other.close()
  })
})
