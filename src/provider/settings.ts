/** The settings of a provider's form that a request gets: the provider's, and those of its account in their place (docs/contract-operators.md §8). */
import { hashKey } from '../adapters/crypto.ts'
import type { Provider } from '../config/index.ts'
import { type Layer, onOperations } from '../core/layer.ts'
import type { Caller } from '../domain/service.ts'
import type { Settings } from '../wire/request.ts'

type OfProvider = Pick<Provider, 'settings' | 'accountSettings'>
type Account = Pick<Caller, 'account'>

/** Always one of two objects of the configuration, so that nothing is made for a request. */
export function settingsOf({ settings, accountSettings }: OfProvider): (caller: Account) => Settings {
  const byAccount = new Map(Object.entries(accountSettings).map(([account, own]) => [account, { ...settings, ...own }]))
  return ({ account }) => (account === undefined ? settings : (byAccount.get(account) ?? settings))
}

/** What tells quotes with other settings apart; empty without settings. A digest: it may be in a shared store. */
export function quoteTermsOf(provider: OfProvider): (caller: Account) => string {
  const ofCaller = settingsOf(provider)
  const digests = new Map<Settings, string>()
  return (caller) => digests.getOrInsertComputed(ofCaller(caller), digestOf)
}

function digestOf(settings: Settings): string {
  const entries = Object.entries(settings).filter(([, value]) => value !== '')
  return entries.length === 0 ? '' : hashKey(JSON.stringify(entries.toSorted()))
}

/** A quote by the settings of one account is in no cache between the gateway and its client. */
export function keepOwnQuotes({ accountSettings }: OfProvider): Layer {
  return onOperations({
    async getRate(request, context, next) {
      const response = await next.call('getRate', request, context)
      const { account } = context.caller
      return account !== undefined && Object.hasOwn(accountSettings, account)
        ? { ...response, caching: { ...response.caching, isForbidden: true } }
        : response
    },
  })
}
