/** What goes wrong between clients, gateways and providers; `stores.ts` has what goes wrong behind them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault } from '../checker/provider/fault.ts'
import { sendRequest } from '../support/client.ts'
import { type Event, nothing, repeating, together } from './event.ts'
import type { Site, World } from './world.ts'

/** A create of its own that the provider treats so. */
async function faultyCreate(world: World, site: Site, fault: Fault): Promise<void> {
  const order = world.order()
  await site.provider.fault({ ...fault, having: `"${order.withdrawalAddress}"` })
  await site.customers[0].create(site.gateway.url, order)
}

/** Its tagged id. */
async function created(world: World, { gateway, customers: [acme] }: Site): Promise<string> {
  const response = await acme.create(gateway.url, world.order())
  const { id } = (response?.json ?? {}) as { readonly id?: string }
  if (id === undefined) throw new Error(`nothing was created: ${response?.text}`)
  return id
}

export const cutOff: Event = {
  name: 'a provider cuts a create off, and does not have it',
  alerts: ['SwapgateCreatesUnknown'],
  panels: ['Transactions: Age of the oldest unresolved create'],
  async cause(world) {
    await faultyCreate(world, world.alpha, { before: 'reset' })
    return nothing
  },
}

export const contradiction: Event = {
  name: 'a provider returns another withdrawal address than requested',
  alerts: ['SwapgateCreateMismatch'],
  async cause(world) {
    await faultyCreate(world, world.alpha, { swap: 'withdrawalAddress' })
    return nothing
  },
}

export const anotherSwap: Event = {
  name: 'a provider reports another withdrawal address under the id of a swap',
  alerts: ['SwapgateTransactionContradicted'],
  async cause(world) {
    const { alpha } = world
    const id = await created(world, alpha)
    await alpha.provider.change(id.replace('alpha~', ''), { withdrawalAddress: '0xSomebodyElse' })
    return repeating(500, () => alpha.customers[0].get(alpha.gateway.url, id))
  },
}

export const strangeStatus: Event = {
  name: 'a provider has an unknown status',
  alerts: ['SwapgateContractDrift'],
  panels: ['Providers: Drift from the contract'],
  async cause(world) {
    const { alpha } = world
    const id = await created(world, alpha)
    await alpha.provider.change(id.replace('alpha~', ''), { status: 'on_the_moon' })
    return repeating(500, () => alpha.customers[0].get(alpha.gateway.url, id))
  },
}

export const failedSwap: Event = {
  name: 'a provider reports that a swap failed',
  alerts: ['SwapgateTransactionNeedsPerson'],
  async cause(world) {
    const { alpha } = world
    const id = await created(world, alpha)
    await alpha.provider.change(id.replace('alpha~', ''), { status: 'failed' })
    return repeating(500, () => alpha.customers[0].get(alpha.gateway.url, id))
  },
}

export const refusedKey: Event = {
  name: "a provider refuses the gateway's key",
  alerts: ['SwapgateProviderKeyRefused'],
  async cause(world) {
    const { gateway, customers, provider } = world.gamma
    const refused = { before: 401, message: 'Invalid API key', times: 2 }
    // The client's create, and the gateway's own reads by which it concludes that the key is refused.
    for (const operation of ['create', 'list', 'get'] as const) await provider.fault({ operation, ...refused })
    for (const customer of customers) await customer.create(gateway.url, world.order())
    return () => provider.heal()
  },
}

export const refusedList: Event = {
  name: 'a provider lets the key create, and not list',
  alerts: ['SwapgateProviderOperationRefused'],
  async cause(world) {
    const { alpha } = world
    await created(world, alpha)
    await alpha.provider.fault({ operation: 'list', before: 403, message: 'Use another key', times: 10 })
    await faultyCreate(world, alpha, { before: 'reset' }) // after that the gateway looks for it in the list
    return nothing
  },
}

export const failingSearch: Event = {
  name: 'a provider cuts a create off, and does not list what it has',
  alerts: ['SwapgateSearchFailing'],
  panels: ['Transactions: Time since a search for lost creates failed'],
  async cause(world) {
    const { beta } = world
    await beta.provider.fault({ operation: 'list', before: 500, times: 100 })
    await faultyCreate(world, beta, { before: 'reset' })
    return () => beta.provider.heal()
  },
}

export const guessedTokens: Event = {
  name: 'somebody guesses tokens of operators',
  alerts: ['SwapgateOperatorTokensRefused'],
  async cause({ gamma }) {
    const guess = () =>
      sendRequest(gamma.gateway.adminUrl, { path: '/api/providers', headers: { authorization: 'Bearer guessed' } })
    return repeating(500, () => together(30, guess))
  },
}

export const brokenTable: Event = {
  name: 'the asset table is broken',
  alerts: ['SwapgateConfigurationRefused'],
  async cause({ gamma }) {
    const file = join(gamma.directory, 'assets.yaml')
    const whole = readFileSync(file)
    writeFileSync(file, '[{')
    return async () => writeFileSync(file, whole)
  },
}

export const greed: Event = {
  name: 'a client exceeds its limit, and a provider its own',
  panels: ['Limits and budgets: Refused requests by limit', 'Limits and budgets: Limited by the provider'],
  async cause(world) {
    const { gateway, customers } = world.alpha
    for (let round = 0; round < 30; round++) await together(8, () => customers[1].get(gateway.url, 'alpha~none'))
    await world.beta.provider.fault({ operation: 'get', before: 429 })
    return nothing
  },
}

export const slowProvider: Event = {
  name: 'a provider takes three seconds for a quote',
  alerts: ['SwapgateTotalLatencyBurn'],
  async cause(world) {
    const { provider } = world.alpha
    await provider.fault({ operation: 'rate', delay: 3_000, times: 10_000 })
    const lift = repeating(200, () => together(60, () => world.quote(world.alpha)))
    return async () => {
      await lift()
      await provider.heal()
    }
  },
}

export const usedUpBudget: Event = {
  name: 'clients want more quotes than the budget at a provider has',
  alerts: ['SwapgateUpstreamQuotaUsedUp'],
  async cause(world) {
    await together(60, () => world.quote(world.beta))
    return repeating(300, () => world.quote(world.beta))
  },
}

export const lostProvider: Event = {
  name: 'a provider is down',
  alerts: ['SwapgateBreakerOpen', 'SwapgateAvailabilityBurnFast'],
  panels: ['Providers: Errors by kind'],
  async cause(world) {
    const { gateway, customers, network } = world.beta
    await network.down()
    const lift = repeating(100, () => customers[0].create(gateway.url, world.order()))
    return async () => {
      await lift()
      await network.up()
    }
  },
}

export const deviation: Event = {
  name: 'the candidate of a mirror quotes two percent less',
  alerts: ['SwapgateMirrorDeviation'],
  async cause(world) {
    await world.alpha.candidate?.fault({ operation: 'rate', quotes: '0.49', times: 100_000 })
    const lift = repeating(100, () => world.quote(world.alpha))
    return async () => {
      await lift()
      await world.alpha.candidate?.heal()
    }
  },
}

export const belowQuote: Event = {
  name: 'creates promise half of what the provider quoted, and then ask for other amounts',
  alerts: ['SwapgateCreateBelowQuote', 'SwapgateAssetSuspended'],
  panels: ['Transactions: Creates against their quotes'],
  async cause(world) {
    const { gateway, provider, customers } = world.gamma
    while ((await world.quote(world.gamma)).status !== 200) await delay(500) // it rests after the refused key
    await provider.fault({ operation: 'rate', quotes: '60000000', times: 100_000 }) // also for what others request meanwhile
    for (const order of [world.order(), world.order(), world.order()]) {
      await sendRequest(gateway.url, { path: `/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=${order.amount}` })
      await customers[0].create(gateway.url, order)
    }
    await provider.heal()
    for (let made = 0; made < 3; made++) await faultyCreate(world, world.gamma, { swap: 'amount' })
    return nothing
  },
}
