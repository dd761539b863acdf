/** Checks the routing against the rest of the configuration (docs/contract.md §12). */
import type { Faults } from '../faults.ts'
import type { Settings } from '../schema.ts'
import type { Parts } from '../validation.ts'

/** `tags`: the tags of all providers. */
export function checkRouting({ routing, providers, auth }: Parts, tags: ReadonlySet<string>, faults: Faults): void {
  if (!routing) return
  const own = faults.under('routing')
  const exists = (name: string): boolean => Object.hasOwn(providers, name)
  for (const [at, name] of routing.providers.entries()) {
    if (!exists(name)) own.add(['providers', at], 'is not in providers')
    if (routing.providers.indexOf(name) !== at) own.add(['providers', at], 'is given twice')
  }
  if (auth?.mode === 'passthrough' && routing.providers.length > 1) {
    own.add(['providers'], "must name exactly one provider in passthrough mode: a client's key goes to no other")
  }
  if (routing.shadow && !exists(routing.shadow.provider)) own.add(['shadow', 'provider'], 'is not in providers')
  if (routing.untagged !== '' && !exists(routing.untagged)) own.add(['untagged'], 'is not in providers')
  checkWeights(routing, own)
  for (const [at, tag] of routing.pick.entries()) {
    if (!tags.has(tag)) own.add(['pick', at], 'is not the tag of a provider')
    if (routing.pick.indexOf(tag) !== at) own.add(['pick', at], 'is given twice')
  }
}

/** Each routed provider must have a weight: one without would get no requests. No other provider may have one. */
function checkWeights({ strategy, weights, providers }: Settings['routing'], faults: Faults): void {
  if (!weights) {
    if (strategy === 'weighted') faults.add(['weights'], 'is needed where routing.strategy is weighted')
    return
  }
  for (const name of providers) if (!Object.hasOwn(weights, name)) faults.add(['weights', name], 'is missing')
  for (const name of Object.keys(weights))
    if (!providers.includes(name)) faults.add(['weights', name], 'is not in routing.providers')
  if (Object.values(weights).every((weight) => weight === 0)) faults.add(['weights'], 'must not all be 0')
}
