/** A gateway before two providers, whose configuration file an operator edits. Clients keep the words of the first day. */
import { time } from '../model/clock.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, ownKeys, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses } from '../support/outcomes.ts'
import { type FormName, pairWords } from '../support/pair.ts'
import { assets } from '../support/swaps.ts'

interface Order {
  readonly form: FormName
  readonly account: number
  readonly asset: 'usdtTrx' | 'usdtEth'
  readonly amount: string
  /** `lost`: the provider makes the swap, and breaks the connection. `failed`: it makes none, and says only 500. */
  readonly outcome: 'success' | 'lost' | 'failed'
}

interface Made extends Order {
  readonly idempotencyKey: string
  readonly responses: ReceivedResponse[]
}

const bitcoin = { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC' }] }
const tron = { network: 'TRX', code: 'USDTTRC20', aliases: ['TRC20'] }
const ethereum = { network: 'ETH', code: 'USDTERC20' }
const tether = (...networks: readonly object[]) => ({ coin: 'USDT', name: 'Tether', networks })

/** Versions of the asset table, with the words of both providers where the table's are no longer theirs. */
export const tables: Readonly<
  Record<string, { readonly rows: readonly object[]; readonly alpha?: object; readonly beta?: object }>
> = {
  'as at first': { rows: [bitcoin, tether(tron, ethereum)] },
  'a network is renamed': {
    rows: [bitcoin, tether({ ...tron, network: 'TRON', aliases: ['TRX', 'TRC20'] }, ethereum)],
    beta: { USDTTRC20: { coin: 'USDT', network: 'TRX' } },
  },
  'a code is renamed': { rows: [bitcoin, tether({ ...tron, code: 'USDTTRX' }, ethereum)], alpha: { USDTTRX: 'USDTTRC20' } },
  'a coin is renamed': {
    rows: [bitcoin, { ...tether(tron, ethereum), coin: 'USDT0' }],
    beta: { USDTTRC20: { coin: 'USDT', network: 'TRX' }, USDTERC20: { coin: 'USDT', network: 'ETH' } },
  },
  'a network is cut': { rows: [bitcoin, tether(ethereum)] },
  'a coin is cut': { rows: [bitcoin] },
  'an asset is not offered': { rows: [bitcoin, tether(tron, ethereum)], alpha: { USDTTRC20: null }, beta: { USDTTRC20: null } },
}

type ProviderFacts = (managed: Managed) => object
const alphaFacts: ProviderFacts = ({ alpha }) => ({ form: 'A', url: alpha.url, key: ownKeys.alpha })
const betaFacts: ProviderFacts = ({ beta }) => ({ form: 'B', url: beta.url, key: ownKeys.beta })

/** What the file says of providers: their names there, and what differs. */
export const providerEdits: Readonly<Record<string, Readonly<Record<string, ProviderFacts>>>> = {
  both: { alpha: alphaFacts, beta: betaFacts },
  'alpha is removed': { beta: betaFacts },
  'beta is removed': { alpha: alphaFacts },
  'alpha is renamed': { gamma: (managed) => ({ ...alphaFacts(managed), tag: 'alpha' }), beta: betaFacts },
  'alpha has another key': { alpha: (managed) => ({ ...alphaFacts(managed), key: `${ownKeys.alpha}-2` }), beta: betaFacts },
  'beta has another timeout': { alpha: alphaFacts, beta: (managed) => ({ ...betaFacts(managed), timeout: 7 }) },
}

export const routings: readonly (readonly string[])[] = [['alpha', 'beta'], ['beta', 'alpha'], ['alpha'], ['beta']]

interface File {
  readonly table: string
  readonly providers: string
  readonly routing: readonly string[]
}

const hourMs = 3_600_000
const ledger = { reconcileFor: 3_600 }

const firstFile: File = { table: 'as at first', providers: 'both', routing: ['alpha', 'beta'] }

export class OperatorWorld {
  private readonly managed: Managed
  private readonly keys: readonly string[]
  private readonly made: Made[] = []
  private readonly wrong: string[] = []
  private file = firstFile

  private constructor(managed: Managed, keys: readonly string[]) {
    this.managed = managed
    this.keys = keys
  }

  static async start(): Promise<OperatorWorld> {
    const managed = await startManaged({
      routing: firstFile.routing,
      assetTable: tables[firstFile.table]?.rows ?? [],
      ledgerClock: time.ledger,
      sections: { ledger },
    })
    return new OperatorWorld(managed, [await managed.issue('acme'), await managed.issue('globex')])
  }

  async create(order: Order): Promise<void> {
    const made = { ...order, idempotencyKey: `order-${this.made.length}`, responses: [] }
    this.made.push(made)
    const { alpha, beta } = this.managed
    for (const provider of [alpha, beta]) {
      if (order.outcome === 'lost') loseResponses(provider, { refundAddress: null, createdAt: new Date(Date.now()).toISOString() })
      if (order.outcome === 'failed') provider.reply('create', { status: 500, json: {} })
    }
    await this.send(made)
    for (const provider of [alpha, beta]) provider.reply('create', () => undefined)
  }

  async repeat(which: number): Promise<void> {
    const made = this.made[which % this.made.length]
    if (made) await this.send(made)
  }

  async read(which: number): Promise<void> {
    const created = this.made.filter((made) => idOf(made) !== undefined)
    const made = created[which % created.length]
    if (!made) return
    const { status, text } = await this.client(made).get(`/transactions/${idOf(made)}`, { key: this.keyOf(made) })
    if (status === 404) this.wrong.push(`the swap of ${made.idempotencyKey} is not found: ${text}`)
  }

  async look(): Promise<void> {
    await lookNow(this.managed.gateway)
  }

  /** Longer than a lost create is looked for. A whole day has fewer hours than a key is kept. */
  async anHourPasses(): Promise<void> {
    time.passes(1.1 * hourMs)
    await this.look()
  }

  async progress(): Promise<void> {
    for (const { holdings } of [this.managed.alpha, this.managed.beta])
      holdings.swaps = holdings.swaps.map((swap) => ({ ...swap, status: 'exchanging' }))
  }

  /** A routing with a provider that the file lacks would not start: it has the others. */
  async edit(change: Partial<File>): Promise<void> {
    this.file = { ...this.file, ...change }
    const { rows, ...words } = tables[this.file.table] ?? { rows: [] }
    const providers = Object.entries(providerEdits[this.file.providers] ?? {}).map(([name, factsOf]) => {
      const facts = { name, ...factsOf(this.managed) } as { name: string; tag?: string; form: string; url: string }
      const own = words[(facts.tag ?? name) as keyof typeof words]
      return { ...facts, ...(own && { assets: own }) }
    })
    const routed = this.file.routing.flatMap((tag) => providers.filter((each) => (each.tag ?? each.name) === tag))
    const names = (routed.length > 0 ? routed : providers).map(({ name }) => name)
    const [first, ...others] = providers
    if (!first) return
    this.managed.gateway.reconfigure({
      assetTable: rows,
      provider: first,
      others: Object.fromEntries(others.map(({ name, ...facts }) => [name, facts])),
      sections: { auth: { mode: 'managed' }, ledger, routing: { providers: names } },
    })
  }

  /** The file is as at first again. Each key is used once more, and all that is open is looked for. */
  async evening(): Promise<void> {
    await this.edit(firstFile)
    await this.look()
    for (const made of this.made) {
      await this.send(made)
      await this.read(this.made.indexOf(made))
    }
    await this.managed.close()
  }

  async violations(): Promise<readonly string[]> {
    const several = this.made
      .map((made) => ({ made, ids: new Set(made.responses.flatMap((response) => idIn(response) ?? [])) }))
      .filter(({ ids }) => ids.size > 1)
    return [
      ...this.wrong,
      ...several.map(({ made, ids }) => `${made.idempotencyKey} has several swaps: ${[...ids].join(', ')}`),
      ...(await this.managed.witness.judge()).filter((line) => !this.isProvenElsewhere(line)),
    ]
  }

  /** A create that made nothing ends as not created, and then its key is free for any provider. */
  private isProvenElsewhere(line: string): boolean {
    return this.made.some(({ outcome, idempotencyKey }) => outcome === 'failed' && line.startsWith(`I6: ${idempotencyKey} of `))
  }

  private async send(made: Made): Promise<void> {
    const { form, asset, amount, idempotencyKey } = made
    const words = { ...pairWords(form, assets.btc, assets[asset]), amount: digits(amount) }
    const body = orderIn(form, { ...words, withdrawalAddress: `T-${idempotencyKey}` })
    const headers = { 'idempotency-key': idempotencyKey }
    const response = await this.client(made).post('/transactions', body, { key: this.keyOf(made), headers })
    if (response.status === 422) this.wrong.push(`a repeat of ${idempotencyKey} is another request: ${response.text}`)
    made.responses.push(response)
  }

  private client({ form }: Order): ReturnType<Managed['client']> {
    return this.managed.client(form)
  }

  private keyOf({ account }: Order): string {
    return this.keys[account] ?? ''
  }
}

function idOf({ responses }: Made): string | undefined {
  return responses.map(idIn).find((id) => id !== undefined)
}

function idIn({ status, json }: ReceivedResponse): string | undefined {
  return status === 200 || status === 201 ? (json as { readonly id: string }).id : undefined
}
