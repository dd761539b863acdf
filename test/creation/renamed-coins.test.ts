/**
 * docs/contract-operators.md §9: ten coins are renamed at one of two providers and in the table, with swaps open, creates lost and keys repeated, and
 * back. Nothing is lost, doubled, frozen or another request; each swap keeps the name of its create, and both names are one coin.
 */
import { describe, expect, it, vi } from 'vitest'
import { configured, type Documented, documented } from '../providers/documented.ts'
import { startExchange, type Words } from '../providers/stand-ins/exchange.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { startFormA } from '../support/form-a.ts'
import { startFormB } from '../support/form-b.ts'
import { startGateway } from '../support/gateway.ts'
import { digits } from '../support/json.ts'
import { lookNow, loseResponses, outcomesOf } from '../support/outcomes.ts'
import { client, type FormName, formNames, pairWords, rateQuery } from '../support/pair.ts'
import { type AssetWords, assets } from '../support/swaps.ts'

const letters = [...'ABCDEFGHIJ']
const address = '0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C'
const other = '0x52908400098527886E0F7030069857D2E4169EE7'

type Side = 'OLD' | 'NEW'
const named = (letter: string, side: Side): AssetWords => ({
  code: `${side}${letter}`,
  coin: `${side}${letter}`,
  network: `NET${letter}`,
})
const opposite = { OLD: 'NEW', NEW: 'OLD' } as const

/** As an operator writes the table while the coins have these names. */
function tableOf(side: Side, keepsOther = true): readonly object[] {
  const rules = { decimals: 18, address: { format: 'ETH' }, memo: 'none' }
  return [
    { coin: 'ETH', name: 'Ethereum', networks: [{ network: 'ETH', code: 'ETH', home: true, ...rules }] },
    ...letters.map((letter) => ({
      coin: `${side}${letter}`,
      ...(keepsOther && { also: [`${opposite[side]}${letter}`] }),
      name: `Coin ${letter}`,
      networks: [{ network: `NET${letter}`, code: `${side}${letter}`, home: true, ...rules }],
    })),
  ]
}

/** A provider that can rename its coins, and what went up to it. */
interface Renaming extends AsyncDisposable {
  readonly facts: object
  readonly rename: (to: Side) => void
  readonly loseNext: () => void
  readonly loseNoMore: () => void
  readonly setStatus: (status: 'exchanging' | 'success') => void
  readonly count: () => number
  /** The text of the last quote or create. */
  readonly lastSent: () => string
}

function swapped(words: AssetWords, to: Side): AssetWords {
  const letter = /^(?:OLD|NEW)([A-J])$/.exec(words.coin)?.[1]
  return letter === undefined ? words : named(letter, to)
}

/** `removed`: two that run at once give no deposit address twice if these are far from each other. */
async function ownForm(form: FormName, key: string, removed = 0): Promise<Renaming> {
  const provider = form === 'A' ? await startFormA() : await startFormB()
  provider.holdings.removed = removed
  const rename = (to: Side): void => {
    const { holdings } = provider
    const listed = [assets.eth, ...letters.map((letter) => named(letter, to))]
    holdings.currencies = listed.map(({ code, coin, network }) => ({
      code: form === 'A' ? code : coin,
      name: coin,
      icon: 'https://icons.test/x.svg',
      ...(form === 'A' ? { network, depositMin: digits('0.001'), depositMax: digits('10') } : { notes: '' }),
    }))
    holdings.swaps = holdings.swaps.map((swap) => ({ ...swap, from: swapped(swap.from, to), to: swapped(swap.to, to) }))
  }
  return {
    facts: { form, url: provider.url, key },
    rename,
    loseNext: () => loseResponses(provider),
    loseNoMore: () => provider.reply('create', () => undefined),
    setStatus(status) {
      provider.holdings.swaps = provider.holdings.swaps.map((swap) => ({ ...swap, status }))
    },
    count: () => provider.holdings.swaps.length,
    lastSent: () => provider.journal.findLast(({ operation }) => operation === 'create' || operation === 'rate')?.body ?? '',
    [Symbol.asyncDispose]: () => provider.close(),
  }
}

async function realForm(name: 'changenow' | 'exolix' | 'letsexchange' | 'stealthex'): Promise<Renaming> {
  const facts: Documented = documented[name]
  const isUpper = name === 'exolix' || name === 'letsexchange'
  const cased = (word: string): string => (isUpper ? word : word.toLowerCase())
  const coins: { coin: string; network: string }[] = letters.map((letter) => ({
    coin: cased(`OLD${letter}`),
    network: name === 'stealthex' ? 'mainnet' : cased(`NET${letter}`),
  }))
  const list = facts.dialect.assets as Words[]
  list.push(...coins)
  const exchange = await startExchange(facts.dialect)
  exchange.key = facts.key
  return {
    facts: { form: name, url: exchange.url, ...configured(facts) },
    rename(to) {
      for (const [at, words] of coins.entries()) words.coin = cased(`${to}${letters[at]}`)
    },
    loseNext: () => {
      exchange.losesNextCreate = true
    },
    loseNoMore: () => {},
    setStatus(status) {
      const word = facts.statuses.find(([, means]) => means === status)?.[0] ?? ''
      for (const swap of exchange.swaps) swap.status = word
    },
    count: () => exchange.swaps.length,
    lastSent: () => exchange.received('create').at(-1)?.body ?? '',
    async [Symbol.asyncDispose]() {
      list.splice(list.length - coins.length)
      await exchange.end()
    },
  }
}

const starts = {
  A: () => ownForm('A', 'provider-key-alpha'),
  B: () => ownForm('B', 'provider-key-alpha'),
  changenow: () => realForm('changenow'),
  exolix: () => realForm('exolix'),
  letsexchange: () => realForm('letsexchange'),
  /** With a word of its own for the network of each. */
  stealthex: () => realForm('stealthex'),
} as const satisfies Record<string, () => Promise<Renaming>>

describe.each(Object.entries(starts))('at a provider of form %s', (_, start) => {
  it.each([
    ['OLD', 'NEW'],
    ['NEW', 'OLD'],
  ] as const)('ten coins are renamed from %s to %s: nothing is lost, doubled, frozen or refused', async (before, after) => {
    await using alpha = await start()
    await using beta = await ownForm('B', 'provider-key-beta', 1_000)
    alpha.rename(before)
    beta.rename(before)
    const file = (assetTable: readonly object[]) => ({
      assetTable,
      provider: { name: 'alpha', ...alpha.facts },
      others: { beta: beta.facts as Record<string, unknown> },
      sections: {
        auth: { mode: 'managed' },
        routing: { providers: ['alpha', 'beta'], pick: ['alpha', 'beta'] },
        ledger: { refreshAfter: 0, reconcileFor: 1 },
      },
    })
    const gateway = await startGateway(file(tableOf(before, false)))
    try {
      const key = await gateway.issueKey('acme')
      const send = (letter: string, side: Side, form: FormName, name: string, provider = 'alpha'): Promise<ReceivedResponse> =>
        client(form, gateway.url).post(
          '/transactions',
          {
            ...pairWords(form, assets.eth, named(letter, side)),
            amount: digits(`0.1${letters.indexOf(letter)}1`),
            withdrawalAddress: address,
            refundAddress: other,
            rateType: 'float',
          },
          { key, headers: { 'idempotency-key': `${name}-${letter}-${form}`, 'x-swap-provider': provider } },
        )
      const read = (form: FormName, id: string): Promise<ReceivedResponse> =>
        client(form, gateway.url).get(`/transactions/${id}`, { key })
      const coinOf = ({ json }: ReceivedResponse): unknown => {
        const { coinTo, coin_to } = json as Record<string, unknown>
        return coinTo ?? coin_to
      }
      const idOf = ({ json }: ReceivedResponse): string => (json as { id: string }).id

      const open = new Map<string, ReceivedResponse>()
      for (const letter of letters) for (const form of formNames) open.set(letter + form, await send(letter, before, form, 'open'))
      expect(
        [...open.values()].map(({ status, text }) => (status < 300 ? coinOf({ json: JSON.parse(text) } as never) : text)),
      ).toEqual(letters.flatMap((letter) => formNames.map(() => before + letter)))
      for (const letter of letters) {
        alpha.loseNext()
        expect((await send(letter, before, 'A', 'lost')).status).toBe(504)
      }
      alpha.loseNoMore()
      const made = alpha.count()
      expect(made).toBe(30)

      alpha.rename(after)
      // Past `reconcileFor`: by now a list without it would say that it made nothing.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1_100 })
      await lookNow(gateway)
      expect(outcomesOf(gateway)).not.toContain('notCreated')
      gateway.reconfigure(file(tableOf(after)))
      await lookNow(gateway)
      expect(outcomesOf(gateway).slice(-10)).toEqual(letters.map(() => 'found'))

      alpha.setStatus('exchanging')
      for (const letter of letters) {
        const lost = await send(letter, before, 'A', 'lost')
        expect([lost.status, coinOf(lost)], lost.text).toEqual([201, before + letter])
        for (const form of formNames) {
          const first = open.get(letter + form) as ReceivedResponse
          for (const side of [before, after]) {
            const again = await send(letter, side, form, 'open')
            expect([again.status, again.text]).toEqual([first.status, first.text])
          }
          for (const viewer of formNames) {
            const now = await read(viewer, idOf(first))
            expect([(now.json as { status: string }).status, coinOf(now), now.headers['x-swap-stale']]).toEqual([
              'exchanging',
              before + letter,
              undefined,
            ])
            expect(now.text).toMatch(/"deposit_?[aA]ddress":"\w+"/)
          }
        }
      }
      expect(alpha.count()).toBe(made)

      for (const side of [before, after]) {
        const query = rateQuery('B', { from: assets.eth, to: named('A', side), amount: '0.1' })
        const quote = await client('A', gateway.url).get(rateQuery('A', { from: assets.eth, to: named('A', side), amount: '0.1' }))
        expect([quote.status, coinOf(quote)], quote.text).toEqual([200, `${side}A`])
        expect((await client('B', gateway.url).get(query)).status).toBe(200)
        for (const form of formNames) {
          const created = await send('A', side, form, `new-${side}`)
          expect([created.status < 300, coinOf(created)], created.text).toEqual([true, `${side}A`])
          expect(alpha.lastSent().toUpperCase()).toContain(`"${after}A"`)
          const elsewhere = await send('B', side, form, `beta-${side}`, 'beta')
          expect([elsewhere.status < 300, coinOf(elsewhere)], elsewhere.text).toEqual([true, `${side}B`])
          expect(beta.lastSent().toUpperCase()).toContain(`"${before}B"`)
        }
      }

      alpha.rename(before)
      gateway.reconfigure(file(tableOf(before)))
      alpha.setStatus('success')
      for (const [name, first] of open) {
        const now = await read('A', idOf(first))
        expect([(now.json as { status: string }).status, coinOf(now), now.headers['x-swap-stale']], name).toEqual([
          'success',
          before + name[0],
          undefined,
        ])
      }
      const renamed = await send('A', before, 'A', `new-${after}`)
      expect([renamed.status, coinOf(renamed)], renamed.text).toEqual([201, `${after}A`])
    } finally {
      vi.useRealTimers()
      await gateway.close()
    }
  })
})
