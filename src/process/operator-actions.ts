/** Actions on swaps from a process that serves nobody, for a command: by the configuration in force, and in the ledger as those of a gateway. */
import { type Config, ConfigError } from '../config/index.ts'
import { type OperatorActions, operatorActions } from '../core/actions/by-operator.ts'
import { follow } from '../core/operations/settings.ts'
import { gatewayScope } from '../gateway/process-scope.ts'
import { routedProvider } from '../gateway/routed-provider.ts'
import { actionPartsOf } from '../gateway/served.ts'
import type { OpenLedger } from '../ledger/index.ts'
import { processScopeOf } from './gateway-process.ts'
import { openLimitStores } from './limit-stores.ts'
import { Tags } from './tags.ts'

/** Registers all that it opens in `open`. Throws a `ConfigError` if the ledger contradicts the file, as a start does. */
export async function openOperatorActions(file: Config, stores: OpenLedger, open: AsyncDisposableStack): Promise<OperatorActions> {
  const { faults } = await new Tags(stores.tags).open(file)
  if (faults.length > 0) throw new ConfigError(faults)
  const config = follow(file, await stores.overrides.readAll()).settings
  const limitStores = await openLimitStores(config, () => {})
  open.defer(limitStores.close)
  const process = processScopeOf(stores, { ...limitStores, load: { level: 0 }, observe: () => {}, pages: () => new Map() }, open)
  const gateway = gatewayScope(config, process, new AbortController().signal)
  const providers = config.providers.map((provider) => routedProvider(provider, gateway, () => []))
  return operatorActions(actionPartsOf(providers, gateway), gateway.isManaged)
}
