/** A provider of the configuration, connected, behind its layers. */
import type { Provider } from '../config/index.ts'
import { gatewayKeyErrors, gatewayQuoteErrors } from '../core/access/authentication.ts'
import { recordVerifiedKeys } from '../core/access/verified-keys.ts'
import type { TransactionReader } from '../core/creation/match-create.ts'
import { compose, type Layer } from '../core/layer.ts'
import { lostPoll, openPoll } from '../core/transactions/poll-open.ts'
import { keyed, type ProviderState } from '../domain/service.ts'
import { providerFormNamed } from '../forms/index.ts'
import { nativeLaneOf } from '../native/lane.ts'
import type { NativeLane } from '../native/serve.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import { confidentialOf } from '../provider/connections.ts'
import { keyFor, reportedBy, transactionReader } from '../provider/readers.ts'
import type { SharedParts } from './parts.ts'
import { type ProviderPath, stateOptions } from './provider-path.ts'

export interface RoutedProvider
  extends Pick<ConnectedProvider, 'name' | 'tag' | 'timeoutMs' | 'service' | 'capabilities' | 'catalogue'> {
  readonly connected: ConnectedProvider
  readonly state: ProviderState
  /** Absent if nothing is open. */
  readonly native: NativeLane | undefined
  /** Reads transactions as the provider reports them, for reconciliation; undefined if it has no list of them. */
  readonly reader: TransactionReader | undefined
  /** In managed mode: reads what is open at a draining provider, and what another one does not find any more. */
  readonly poll: (() => Promise<void>) | undefined
}

/** Connects the provider and composes its layers in front of it. */
export function routedProvider(
  provider: Provider,
  parts: SharedParts,
  layersOf: (path: ProviderPath) => readonly Layer[],
): RoutedProvider {
  const { config, providerForms, steadyClock, version } = parts
  const form = providerFormNamed(provider.form, providerForms)
  const connected = connect(provider, parts)
  if (provider.state !== 'off') parts.reported.set(connected.tag, reportedBy(connected, provider))
  connected.setPaused(provider.state !== 'active')
  return {
    ...connected,
    connected,
    state: provider.state,
    native: nativeLaneOf(config, provider, { form, connection: connected.native, confidential: confidentialOf(config), version }),
    service: compose(layersOf({ provider, connected, parts }), connected.service),
    reader: form.operation('listTransactions') && transactionReader(connected, provider, config, steadyClock),
    poll: provider.state !== 'off' && parts.isManaged ? pollOf({ provider, connected, parts }) : undefined,
  }
}

function connect(provider: Provider, parts: SharedParts): ConnectedProvider {
  const { providerForms, isManaged, connections } = parts
  return connections.connect(provider, {
    ...parts,
    form: providerFormNamed(provider.form, providerForms),
    keyOf: ({ caller }, { op }) => (isManaged || !keyed.has(op) ? keyFor(provider, op) : caller.key),
    access: isManaged ? gatewayKeyErrors() : passthroughAccess(parts),
    usesGatewayKey: isManaged,
  })
}

/** A client's key is checked by the provider; quotes may have the gateway's own. */
function passthroughAccess({ verifiedKeys, refusedAddresses }: SharedParts): Layer {
  return (service) => compose([gatewayQuoteErrors(), recordVerifiedKeys(verifiedKeys, refusedAddresses)], service)
}

function pollOf(path: ProviderPath): () => Promise<void> {
  const { provider, connected, parts } = path
  const { steadyClock, retired } = parts
  const poll = provider.state === 'draining' ? openPoll : lostPoll
  return poll({
    ...stateOptions(path),
    service: reportedBy(connected, provider),
    capabilities: connected.capabilities,
    steadyClock,
    isRetired: () => retired.aborted,
  })
}
