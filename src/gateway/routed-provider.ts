/** A provider of the configuration, connected, behind its layers. */
import type { Provider } from '../config/index.ts'
import { gatewayKeyErrors, gatewayQuoteErrors } from '../core/access/authentication.ts'
import { type ReadWithKey, recordVerifiedKeys } from '../core/access/verified-keys.ts'
import type { ActingProvider } from '../core/actions/act.ts'
import type { TransactionReader } from '../core/creation/match-create.ts'
import { compose, type Layer } from '../core/layer.ts'
import type { ProviderScope } from '../core/provider-scope.ts'
import { lostPoll, openPoll } from '../core/transactions/poll-open.ts'
import { watchedReads } from '../core/transactions/read-watched.ts'
import { gatewayContext, keyed, type SwapService } from '../domain/service.ts'
import { providerFormNamed } from '../forms/index.ts'
import { type NativeLane, nativeLaneOf } from '../native/lane.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import { keyFor, reportedBy, transactionReader } from '../provider/readers.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
import type { GatewayScope } from './process-scope.ts'
import { providerScope } from './provider-scope.ts'

export interface RoutedProvider {
  readonly name: string
  readonly tag: string
  readonly scope: ProviderScope
  /** Behind its layers. */
  readonly service: SwapService
  readonly connected: ConnectedProvider
  /** Absent if nothing is open. */
  readonly native: NativeLane | undefined
  /** Reads transactions as the provider reports them, for reconciliation; undefined if it has no list of them. */
  readonly reader: TransactionReader | undefined
  /** For actions on its swaps. */
  readonly acting: ActingProvider
  /** A list by the client's own key; undefined in managed mode, and if the provider has no list. */
  readonly readWithKey: ReadWithKey | undefined
  /** In managed mode: reads what is open at a draining provider, and what another one does not find any more. */
  readonly poll: (() => Promise<void>) | undefined
  /** The same of what is watched. */
  readonly readWatched: (() => Promise<void>) | undefined
}

/** Connects the provider and composes its layers in front of it. */
export function routedProvider(
  provider: Provider,
  gateway: GatewayScope,
  layersOf: (scope: ProviderScope, gateway: GatewayScope) => readonly Layer[],
): RoutedProvider {
  const { config, providerForms, isManaged, steadyClock, watches, retired, version } = gateway
  const { name, tag, state } = provider
  const form = providerFormNamed(provider.form, providerForms)
  const connected = connect(provider, gateway)
  const scope = providerScope(provider, connected, gateway)
  const reported = reportedBy(connected, provider)
  if (state !== 'off') gateway.reported.set(tag, reported)
  connected.setPaused(state !== 'active')
  const poll = state === 'draining' ? openPoll : lostPoll
  return {
    name,
    tag,
    scope,
    connected,
    native: nativeLaneOf(config, provider, { form, connection: connected.native, confidential: scope.confidential, version }),
    service: compose(layersOf(scope, gateway), connected.service),
    reader: form.operation('listTransactions') && transactionReader(connected, provider, config, steadyClock),
    acting: { scope, reported, act: connected.act },
    readWithKey: isManaged || state === 'off' || !form.operation('listTransactions') ? undefined : listReader(connected),
    poll: state !== 'off' && isManaged ? poll(scope, reported, retired) : undefined,
    readWatched: state !== 'off' && isManaged ? watchedReads(scope, reported, watches, retired) : undefined,
  }
}

function connect(provider: Provider, gateway: GatewayScope): ConnectedProvider {
  const { providerForms, isManaged, connections } = gateway
  const form = providerFormNamed(provider.form, providerForms)
  return connections.connect(provider, {
    ...gateway,
    form,
    keyOf: ({ caller }, { op }) => (isManaged || !keyed.has(op) ? keyFor(provider, op) : caller.key),
    access: isManaged ? gatewayKeyErrors() : passthroughAccess(form, gateway),
    usesGatewayKey: isManaged,
  })
}

function listReader({ service, upstream: { capabilities, timeoutMs } }: ConnectedProvider): ReadWithKey {
  return (caller) => {
    const context = { ...gatewayContext(capabilities, performance.now() + timeoutMs), caller, acceptsUnreadableRows: true }
    return service.call('listTransactions', { page: 1, size: 1 }, context)
  }
}

/** A client's key is checked by the provider; quotes may have the gateway's own, but for those that the provider keeps for its key. */
function passthroughAccess(form: ProviderForm, { verifiedKeys, refusedAddresses }: GatewayScope): Layer {
  return (service) => compose([gatewayQuoteErrors(form), recordVerifiedKeys(verifiedKeys, refusedAddresses)], service)
}
