// Takes long: an edit of the table, and its reverse, at each real form.
/**
 * docs/contract.md §10: what an operator edits in the asset table while creates are lost, swaps are open, and clients repeat their
 * creates, at each real provider and for clients of both forms. A name of the table is no identity: nothing is lost, doubled, frozen,
 * or taken for another request. `test/creation/table-edits.test.ts` has the same for providers of Forms A and B.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { resolveCreate } from '../../src/core/operations/resolve.ts'
import { resolvePorts } from '../../src/process/ask-providers.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { noCurrencyLists } from '../support/no-currency-lists.ts'
import { lookNow, outcomesOf } from '../support/outcomes.ts'
import { type FormName, formNames } from '../support/pair.ts'
import type { AssetWords } from '../support/swaps.ts'
import { documented, type ProviderName, providerNames } from './documented.ts'
import { addresses, assets, createdStatus, type Rig, startRig } from './rig.ts'
import type { Swap } from './stand-ins/exchange.ts'

interface CoinRow {
  readonly coin: string
  readonly name: string
  readonly networks: readonly NetworkRow[]
}
type NetworkRow = Readonly<Record<string, unknown>> & { readonly network: string }
type Table = readonly CoinRow[]

const shipped = parse(readFileSync('config/assets.yaml', 'utf8')) as Table
const today = shipped.filter(({ coin }) => ['ETH', 'USDT', 'XRP'].includes(coin))

/** What the file has for the assets. */
interface File {
  readonly table: Table
  /** `providers.<name>.assets`. */
  readonly words?: Readonly<Record<string, object | null>>
}

interface Edit {
  /** Default: the table that is shipped. */
  readonly before?: (name: ProviderName) => File
  readonly after: (name: ProviderName) => File
  /** What clients call the asset before, and in their repeats. */
  readonly asset?: (name: ProviderName) => AssetWords
  readonly network?: keyof typeof addresses
}

/** USDT on TRX with other facts; undefined: without it. */
function tron(facts: object | undefined, coin: object = {}): Table {
  return today.map((row) => {
    if (row.coin !== 'USDT') return row
    const networks = row.networks.flatMap((each) => (each.network !== 'TRX' ? [each] : facts ? [{ ...each, ...facts }] : []))
    return { ...row, ...coin, networks }
  })
}

const without = (coin: string): Table => today.filter((row) => row.coin !== coin)

/** A provider's own words for an asset, as the file names them. */
function wordsOf(name: ProviderName, code: string): Record<string, string> {
  const words: Readonly<Record<string, string>> = documented[name].words
  const [coin = '', network = ''] = words[code]?.split(' ') ?? []
  return documented[name].isNamedByCode ? { code: coin } : { coin, network }
}

const tetherOnTron = { network: 'TRON20', code: 'TETHER' }
const networkAt = (name: ProviderName): string => documented[name].words.USDTTRC20.split(' ')[1] ?? ''

const edits: Readonly<Record<string, Edit>> = {
  'its network is renamed, and the old name is an alias': {
    after: () => ({ table: tron({ network: 'TRON', aliases: ['TRX', 'TRC20'] }) }),
  },
  'its network is renamed': { after: () => ({ table: tron({ network: 'TRON', aliases: [] }) }) },
  'its code is renamed': { after: () => ({ table: tron({ code: 'USDTTRX' }) }) },
  'its coin is renamed': { after: () => ({ table: tron({}, { coin: 'USDT0' }) }) },
  'its coin, code and network are renamed, as MATIC was to POL': {
    before: (name) => ({
      table: [...tron(undefined), { coin: 'TETHER', name: 'Tether', networks: [{ ...tetherOnTron, aliases: [networkAt(name)] }] }],
      words: { TETHER: wordsOf(name, 'USDTTRC20') },
    }),
    after: () => ({ table: today }),
    asset: () => ({ code: 'TETHER', coin: 'TETHER', network: 'TRON20' }),
  },
  'its network is cut': { after: () => ({ table: tron(undefined) }) },
  'its coin is cut': { after: () => ({ table: without('USDT') }) },
  'its coin, which has memos, is cut': { after: () => ({ table: without('XRP') }), asset: () => assets.xrp, network: 'XRP' },
  'the table gets it': {
    before: () => ({ table: without('XRP') }),
    after: () => ({ table: today }),
    asset: (name) => {
      const [coin = '', network = ''] = documented[name].words.XRP.split(' ')
      return { code: coin, coin, network }
    },
    network: 'XRP',
  },
  'it is no longer offered': { after: () => ({ table: today, words: { USDTTRC20: null } }) },
  'the provider has other words for it': {
    after: (name) => ({ table: today, words: { USDTTRC20: wordsOf(name, 'USDTERC20'), USDTERC20: null } }),
  },
  'it is another token': { after: () => ({ table: tron({ contract: 'TPYmHEhy5n8TCEfYGqW2rPxsghSfzghPDn' }) }) },
  'its addresses follow another rule': { after: () => ({ table: tron({ address: { pattern: 'T(?:[^Q]|Q[^n]).*' } }) }) },
  'it has fewer decimals': { after: () => ({ table: tron({ decimals: 0 }) }) },
  'its memos are others': {
    after: () => ({
      table: today.map((row) =>
        row.coin === 'XRP' ? { ...row, networks: row.networks.map((each) => ({ ...each, memo: { pattern: 'none' } })) } : row,
      ),
    }),
    asset: () => assets.xrp,
    network: 'XRP',
  },
  "its addresses, memos and decimals are those of Ethereum's machine, as it was with SEI": {
    after: () => ({
      table: today.map((row) =>
        row.coin === 'XRP'
          ? { ...row, networks: row.networks.map((each) => ({ ...each, address: { format: 'ETH' }, memo: 'none', decimals: 18 })) }
          : row,
      ),
    }),
    asset: () => assets.xrp,
    network: 'XRP',
  },
  'its addresses, memos and decimals are those of another kind of network, as if SEI had gone the other way': {
    after: () => ({ table: tron({ address: { format: 'XRP' }, memo: { format: 'XRP' }, decimals: 18 }) }),
  },
  'its addresses follow another pattern': {
    before: () => ({ table: tron({ address: { pattern: 'T.*', checksum: ['base58check'] } }) }),
    after: () => ({ table: tron({ address: { pattern: 'X.*' } }) }),
  },
  'another network is its default': {
    after: () => ({
      table: today.map((row) =>
        row.coin === 'USDT'
          ? { ...row, networks: row.networks.map((each) => ({ ...each, default: each.network === 'ETH' })) }
          : row,
      ),
    }),
  },
}

/** One create: by the form of its client, whether the edited asset is paid or received, and what becomes of it. */
interface Create {
  readonly form: FormName
  readonly isPaid: boolean
  readonly isLost: boolean
}

const creates: readonly Create[] = formNames.flatMap((form) =>
  [true, false].flatMap((isPaid) => [true, false].map((isLost) => ({ form, isPaid, isLost }))),
)
const described = ({ form, isPaid, isLost }: Create): string =>
  `${isLost ? 'lost' : 'open'}, ${isPaid ? 'paid' : 'received'}, by ${form}`

/** By create. */
function each<Of>(of: (create: Create) => Of): Record<string, Of> {
  return Object.fromEntries(creates.map((create) => [described(create), of(create)]))
}

const wordFor = (name: ProviderName, meaning: string): string =>
  documented[name].statuses.find(([, means]) => means === meaning)?.[0] ?? ''

type Responses = ReadonlyMap<Create, ReceivedResponse>

/** A person binds each create of a provider that has no list. */
async function bindAll(lost: readonly Create[], swaps: ReadonlyMap<Create, Swap>, { gateway }: Rig): Promise<void> {
  const { config, ledger, ledgerAdmin } = gateway
  const ports = resolvePorts(config, { ledger, ledgerAdmin, currencyLists: noCurrencyLists }, 'tester')
  for (const [at, { intent }] of (await ledgerAdmin.unresolved()).toSorted((a, b) => a.attemptedAt - b.attemptedAt).entries()) {
    const id = swaps.get(lost[at] as Create)?.id
    const resolution = id === undefined ? ({ none: true } as const) : { bind: id, force: false }
    expect(await resolveCreate(intent, resolution, ports)).toMatchObject({ outcome: 'done' })
  }
}

describe.each(providerNames)('at %s', (name) => {
  it.each(Object.entries(edits))('%s: nothing is lost, doubled, frozen or another request', async (_, edit) => {
    const asset = edit.asset?.(name) ?? assets.usdtTrx
    const { network = 'TRX' } = edit
    const fileOf = ({ table, words }: File) => ({ assetTable: table, provider: words ? { assets: words } : {} })
    await using rig = await startRig(name, fileOf(edit.before?.(name) ?? { table: today }))
    const { exchange } = rig
    const send = (create: Create): Promise<ReceivedResponse> => {
      const { form, isPaid } = create
      return rig.create(form, {
        idempotencyKey: described(create).replaceAll(/\W+/g, '-'),
        ...(isPaid ? { from: asset, to: assets.eth } : { from: assets.eth, to: asset }),
        amount: `0.${creates.indexOf(create) + 1}`,
        body: {
          withdrawalAddress: addresses[isPaid ? 'ETH' : network],
          refundAddress: addresses[isPaid ? network : 'ETH'],
          ...(network === 'XRP' && { [isPaid ? 'refundExtraId' : 'withdrawalExtraId']: '12345' }),
        },
      })
    }
    const sendAll = async (losesSome: boolean): Promise<Responses> => {
      const responses = new Map<Create, ReceivedResponse>()
      for (const create of creates) {
        exchange.losesNextCreate = losesSome && create.isLost
        responses.set(create, await send(create))
      }
      return responses
    }

    const first = await sendAll(true)
    expect(each((create) => first.get(create)?.status)).toEqual(
      each((create) => (create.isLost ? 504 : createdStatus[create.form])),
    )
    const swaps = new Map(creates.map((create, at) => [create, exchange.swaps[at] as Swap]))
    const idOf = (create: Create): string => `alpha~${swaps.get(create)?.id}`
    const lost = creates.filter(({ isLost }) => isLost)

    rig.edit(fileOf(edit.after(name)))
    if (rig.facts.hasList) {
      await lookNow(rig.gateway)
      expect(outcomesOf(rig.gateway).slice(-lost.length)).toEqual(lost.map(() => 'found'))
    } else await bindAll(lost, swaps, rig)

    const repeated = await sendAll(false)
    const summaryOf = ({ status, json, text }: ReceivedResponse) => [status, (json as { id?: string }).id ?? text]
    expect(each((create) => summaryOf(repeated.get(create) as ReceivedResponse))).toEqual(
      each((create) => [createdStatus[create.form], idOf(create)]),
    )
    for (const create of creates.filter(({ isLost }) => !isLost)) expect(repeated.get(create)?.text).toBe(first.get(create)?.text)
    expect(exchange.received('create')).toHaveLength(creates.length)

    for (const status of ['exchanging', 'success']) {
      for (const swap of exchange.swaps) swap.status = wordFor(name, status)
      const read = new Map<Create, unknown>()
      for (const create of creates) {
        const { json, headers, text } = await rig.get(create.form, `/transactions/${idOf(create)}`)
        const { status = text, ...facts } = json as { status?: string; deposit_address?: string; depositAddress?: string }
        read.set(create, [status, headers['x-swap-stale'], facts.depositAddress ?? facts.deposit_address])
      }
      expect(each((create) => read.get(create))).toEqual(each((create) => [status, undefined, swaps.get(create)?.deposit]))
    }
  })
})
