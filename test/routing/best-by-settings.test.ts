/** docs/contract-operators.md §12, §16.1: under `best` a create goes where it is best by the settings of its own account. */
import { afterEach, expect, it } from 'vitest'
import { configured, documented } from '../providers/documented.ts'
import { addresses, assets } from '../providers/rig.ts'
import { changenow } from '../providers/stand-ins/changenow.ts'
import { type Dialect, type RunningExchange, startExchange } from '../providers/stand-ins/exchange.ts'
import { stealthex } from '../providers/stand-ins/stealthex.ts'
import { type StartedGateway, startGateway } from '../support/gateway.ts'
import { client, rateQuery } from '../support/pair.ts'

/** Its rate is 16.5, less the percents of the request. */
const withCommission: Dialect = {
  ...stealthex,
  reply(operation, received, exchange) {
    const percent = Number(/"additional_fee_percent":([\d.]+)/.exec(received.body)?.[1] ?? 0)
    exchange.market.float = 16.5 * (1 - percent / 100)
    return stealthex.reply(operation, received, exchange)
  },
}

let open: AsyncDisposableStack
afterEach(() => open.disposeAsync())

interface Rig {
  readonly gateway: StartedGateway
  readonly alpha: RunningExchange
  readonly beta: RunningExchange
  readonly reconfigure: (accountSettings: object) => void
}

/** Without a commission alpha is better than beta; with ten percent it is not. */
async function start(accountSettings: object): Promise<Rig> {
  open = new AsyncDisposableStack()
  const alpha = await startExchange(withCommission)
  const beta = await startExchange(changenow, 10_000)
  open.defer(alpha.end)
  open.defer(beta.end)
  alpha.key = documented.stealthex.key
  beta.key = documented.changenow.key
  beta.market.float = 16
  const settings = (own: object) => ({
    provider: { name: 'alpha', form: 'stealthex', url: alpha.url, ...configured(documented.stealthex), accountSettings: own },
    others: { beta: { form: 'changenow', url: beta.url, ...configured(documented.changenow) } },
    sections: {
      assets: 'config/assets.yaml',
      auth: { mode: 'managed' },
      cache: { currencies: 600, rate: 0, staleFor: 0 },
      routing: { strategy: 'best', providers: ['alpha', 'beta'] },
    },
  })
  const gateway = await startGateway(settings(accountSettings))
  open.defer(() => gateway.close())
  return { gateway, alpha, beta, reconfigure: (own) => gateway.reconfigure(settings(own)) }
}

async function quotedBy({ gateway }: Rig, key: string | null): Promise<unknown> {
  const query = rateQuery('A', { from: assets.eth, to: assets.usdtEth, amount: '0.1', rateType: 'float' })
  return (await client('A', gateway.url).get(query, { key })).headers['x-swap-provider']
}

async function createdBy({ gateway }: Rig, key: string): Promise<unknown> {
  const body = { coinFrom: 'ETH', coinTo: 'USDTERC20', amount: 0.1, withdrawalAddress: addresses.ETH, rateType: 'float' }
  const { status, text, headers } = await client('A', gateway.url).post('/transactions', body, { key })
  expect(status, text).toBe(201)
  return headers['x-swap-provider']
}

const acme = { acme: { additional_fee_percent: '10' } }

it('a create of an account with settings of its own is quoted anew after a quote without a key', async () => {
  const rig = await start(acme)
  const key = await rig.gateway.issueKey('acme')
  expect(await quotedBy(rig, null)).toBe('alpha')
  expect(await createdBy(rig, key)).toBe('beta')
  expect(rig.alpha.received('create')).toEqual([])
})

it('it follows a quote of its own account', async () => {
  const rig = await start(acme)
  const key = await rig.gateway.issueKey('acme')
  expect(await quotedBy(rig, key)).toBe('beta')
  const asked = rig.alpha.received('quote').length
  expect(await createdBy(rig, key)).toBe('beta')
  expect(rig.alpha.received('quote')).toHaveLength(asked)
})

it('a create of an account without any follows a quote without a key', async () => {
  const rig = await start(acme)
  const key = await rig.gateway.issueKey('other')
  expect(await quotedBy(rig, null)).toBe('alpha')
  const asked = rig.alpha.received('quote').length
  expect(await createdBy(rig, key)).toBe('alpha')
  expect(rig.alpha.received('quote')).toHaveLength(asked)
})

it('a quote from before a change of the settings is not followed', async () => {
  const rig = await start({})
  const key = await rig.gateway.issueKey('acme')
  expect(await quotedBy(rig, key)).toBe('alpha')
  rig.reconfigure(acme)
  expect(await createdBy(rig, key)).toBe('beta')
})
