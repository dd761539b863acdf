import { describe, expect, it, vi } from 'vitest'
import type { Config } from '../config/index.ts'
import type { ConfiguredTag, TagRecord } from '../core/routing/tag-records.ts'
import { compareTags, configuredTags, Tags } from './tags.ts'

const one = 'https://one.test/api'
const two = 'https://two.test/api'

function config(providers: Readonly<Record<string, readonly [form: string, url: string, tag?: string, account?: string]>>): Config {
  const all = Object.entries(providers).map(([name, [form, url, tag = name, account = tag]]) => ({ name, form, url, tag, account }))
  return { providers: all } as unknown as Config
}

const record = (tag: string, form: string, url: string, isUsed = true): TagRecord => ({ tag, form, url, isUsed })
const known = [record('alpha', 'A', one), record('beta', 'B', two)]
const pathsOf = (given: Config, records: readonly TagRecord[]): readonly string[] =>
  compareTags(given, records).faults.map(({ path }) => path)

describe('L52: a configuration whose providers', () => {
  it.each<[string, Config, readonly TagRecord[], readonly string[]]>([
    ['are as they were', config({ alpha: ['A', one], beta: ['B', two] }), known, []],
    ['are new', config({ alpha: ['A', one] }), [{ tag: 'alpha', isUsed: true }], []],
    ['swap their URLs', config({ alpha: ['A', two], beta: ['B', one] }), known, ['providers.alpha.url', 'providers.beta.url']],
    [
      'swap their tags',
      config({ x: ['B', two, 'alpha'], y: ['A', one, 'beta'] }),
      known,
      ['providers.x.form', 'providers.x.url', 'providers.y.form', 'providers.y.url'],
    ],
    ['have the URL of one that is gone', config({ beta: ['B', one] }), known, ['providers.beta.url']],
    ['have another form', config({ alpha: ['B', one] }), known, ['providers.alpha.form']],
    [
      'have another form and URL, and no transactions',
      config({ alpha: ['B', two] }),
      [record('alpha', 'A', one, false), record('beta', 'B', two)],
      [],
    ],
    ['have a new name for the same tag', config({ renamed: ['A', one, 'alpha'] }), known, []],
    ['take a new tag to the same URL', config({ gamma: ['A', one] }), known, []],
    [
      'swap their URLs within one account',
      config({ alpha: ['A', two, 'alpha', 'one'], beta: ['A', one, 'beta', 'one'] }),
      [
        { ...record('alpha', 'A', one), account: 'one' },
        { ...record('beta', 'A', two), account: 'one' },
      ],
      [],
    ],
    [
      'share a URL as they did before',
      config({ alpha: ['A', one], beta: ['A', one] }),
      [record('alpha', 'A', one), record('beta', 'A', one)],
      [],
    ],
  ])('%s', (_, given, records, paths) => expect(pathsOf(given, records)).toEqual(paths))

  it('have moved is reported', () => {
    const { faults, warnings: notices } = compareTags(
      config({ alpha: ['A', 'https://three.test/api'], beta: ['B', `${two}/`] }),
      known,
    )
    expect(faults).toEqual([])
    expect(notices).toEqual([
      `providers.alpha.url: transactions of the tag alpha were at ${one}, and are read at https://three.test/api from now on`,
    ])
  })

  it('are kept without credentials', () => {
    expect(configuredTags(config({ alpha: ['A', 'https://me:secret@ONE.test:443/api/?key=secret#x'] }))).toEqual([
      { tag: 'alpha', form: 'A', url: one, account: 'alpha' },
    ])
  })
})

describe('L52: while the ledger is lost', () => {
  const swapped = config({ alpha: ['A', two], beta: ['B', one] })
  const usual = config({ alpha: ['A', one], beta: ['B', two] })

  it('a reload goes by what was read last, does not wait long, and is noted later', async () => {
    vi.useFakeTimers()
    const written: (readonly ConfiguredTag[])[] = []
    let isLost = false
    const lost = () => new Promise<never>(() => {})
    const tags = new Tags({
      read: async () => (isLost ? lost() : [record('alpha', 'A', one), record('beta', 'B', two, false)]),
      save: async (all) => (isLost ? Promise.reject(new Error('lost')) : void written.push(all)),
    })
    expect((await tags.open(usual)).faults).toEqual([])
    await tags.remember(usual)
    expect((await tags.compare(swapped)).faults.map(({ path }) => path)).toEqual(['providers.alpha.url'])
    isLost = true
    const comparing = tags.compare(swapped)
    await vi.advanceTimersByTimeAsync(1_000)
    expect((await comparing).faults.map(({ path }) => path)).toEqual(['providers.alpha.url', 'providers.beta.url'])
    const moved = config({ alpha: ['A', 'https://three.test/api'], beta: ['B', two] })
    await tags.remember(moved)
    expect(written).toHaveLength(1)
    isLost = false
    await tags.flush()
    await tags.flush()
    expect(written.slice(1)).toEqual([configuredTags(moved)])
    vi.useRealTimers()
  })
})
