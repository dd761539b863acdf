/** What the layers of one provider are made from. */
import type { Config, Provider } from '../config/index.ts'
import { sharedDeposits } from '../core/assets/deposits.ts'
import type { ConfirmCreateOptions } from '../core/creation/confirm-create.ts'
import type { JudgeOptions, VerifyResponseOptions } from '../core/creation/judge.ts'
import { type OtherDepositsOptions, otherDeposits } from '../core/creation/other-deposits.ts'
import type { RecordResultOptions } from '../core/creation/record-result.ts'
import type { Layer } from '../core/layer.ts'
import { traced } from '../core/traced.ts'
import { enrichFromLedger } from '../core/transactions/enrich-from-ledger.ts'
import { knownStateOnly } from '../core/transactions/freshness.ts'
import { createdHereOnly, type OwnershipOptions, ownership } from '../core/transactions/ownership.ts'
import { type ConnectedProvider, destinationOf } from '../provider/connected-provider.ts'
import type { SharedParts } from './parts.ts'

export interface ProviderPath {
  /** As configured. */
  readonly provider: Provider
  readonly connected: ConnectedProvider
  readonly parts: SharedParts
}

/** How a create is stored in the ledger before it is sent, and after its response. */
export function createOptions({ provider, connected, parts }: ProviderPath): RecordResultOptions {
  const { config, ledger, deferredResults, suspensions, clock, observe, pendingKeys } = parts
  const { tag, capabilities, quotedFirst } = connected
  const hasList = (): boolean => capabilities.responseFields.listTransactions.size > 0 && !connected.isListRefused()
  const destination = destinationOf(provider, config)
  return {
    ledger: deferredResults.wrap(suspensions.wrap(ledger, observe), tag),
    provider: tag,
    capabilities,
    clock,
    hasList,
    quotedFirst,
    destination,
    naming: connected.catalogue.naming,
    sendsReference: capabilities.requestFields.createTransaction.has('reference'),
    observe,
    pendingKeys,
  }
}

/** What a get must confirm of the response of a create. */
export function confirmOptions({ provider, connected: { catalogue } }: ProviderPath): ConfirmCreateOptions {
  const mustConfirmNetworks = provider.networks === 'confirmed'
  return { catalogue, mustConfirmNetworks, mustConfirmMemos: !mayIgnoreMemos(provider) }
}

/** How the response of a create is compared with its request. */
export function verifyOptions({ provider, connected }: ProviderPath): VerifyResponseOptions {
  return { naming: connected.catalogue.naming, mustConfirmMemos: !mayIgnoreMemos(provider) }
}

/** How the response of a create is judged. */
export function judgeOptions({ provider, connected, parts }: ProviderPath, quotes: JudgeOptions['quotes']): JudgeOptions {
  const { ledger, clock, justGivenDeposits } = parts
  const { maxDeviation, refuseDeviation } = parts.config.routing
  const { tag, catalogue } = connected
  return {
    provider: tag,
    observe: parts.observe,
    naming: catalogue.naming,
    policies: provider.judge,
    checksAddresses: provider.addresses === 'checked',
    needsDepositMemo: sharedDeposits(provider.depositMemo, catalogue).isShared,
    isAnothersDeposit: otherDeposits({ provider: tag, ledger, readerOf: readerFor(parts), clock, justGiven: justGivenDeposits }),
    quotes,
    tags: accountTags(provider, parts.config),
    maxDeviation,
    refusesDeviation: refuseDeviation,
  }
}

/** All tags of the provider's account, its own first. */
export function accountTags({ tag, account }: Provider, { providers }: Config): readonly string[] {
  const others = providers.filter((other) => other.account === account && other.tag !== tag)
  return [tag, ...others.map((other) => other.tag)]
}

/** With issued keys every swap can be read; with a provider's own keys only those of the caller. */
function readerFor({ isManaged, reported }: SharedParts): OtherDepositsOptions['readerOf'] {
  return (provider, owner, { caller }) => (isManaged || owner === caller.identity ? reported.get(provider) : undefined)
}

/** Whether the provider's responses may leave out the memos of a request. */
export function mayIgnoreMemos({ extraIds }: Provider): boolean {
  return extraIds === 'unconfirmed'
}

/** Whether other providers serve the same request, or are compared with this one. */
export function isOneOfSeveral({ provider, parts: { config } }: ProviderPath): boolean {
  return config.routing.providers.length > 1 || config.routing.mirror?.provider === provider.name
}

/** What it takes to merge a report of the provider into the ledger. */
export function stateOptions({ provider, connected, parts }: ProviderPath): Omit<OwnershipOptions, 'isOff'> {
  const { config, ledger, connections, freshness, clock, observe } = parts
  const { timezone } = provider
  return {
    ledger,
    provider: connected.tag,
    table: config.assets,
    sequences: connections.sequences,
    timezone,
    freshness,
    clock,
    observe,
  }
}

/** Managed mode: the ledger decides who owns a transaction. */
export function ownedByLedger(path: ProviderPath): Layer {
  const { provider, connected } = path
  return traced('ownership', ownership({ ...stateOptions(path), isOff: provider.state === 'off' }), connected.tag)
}

/** Passthrough mode: the provider decides, by the client's key, and the ledger completes its responses. */
export function ownedByProvider(path: ProviderPath): readonly Layer[] {
  const { provider, connected, parts } = path
  const { tag, capabilities } = connected
  const { config, ledger, freshness } = parts
  const enriched =
    provider.state === 'off'
      ? knownStateOnly(ledger, tag, freshness) // never calls the provider
      : traced('enrichFromLedger', enrichFromLedger({ ...stateOptions(path), capabilities }), tag)
  return config.routing.providers.includes(provider.name)
    ? [enriched]
    : [traced('createdHereOnly', createdHereOnly(ledger, tag), tag), enriched]
}
