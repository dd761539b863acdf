import type { Config } from '../config.ts'
import { publicKeys } from '../sandbox/keys.ts'

/** What an operator should know of a configuration that is whole and still weaker than it could be: one line each. */
export function noticesOf({ auth, cache, routing, sandbox }: Config): readonly string[] {
  const { untagged, providers } = routing
  const isElsewhere = auth.mode === 'passthrough' && untagged !== '' && !providers.includes(untagged)
  return [
    'limits are kept in memory: each process counts for itself, and a restart begins anew',
    'the budgets of providers are not kept yet: a provider may answer 429',
    'the ledger is not kept yet: ids, lists and their completion come from the provider alone',
    ...(cache.rate > 0 ? ['/rate answers are not cached yet: each question goes to the provider'] : []),
    ...(sandbox.enabled ? [`the sandbox runs, and its keys are public: ${publicKeys.join(', ')}`] : []),
    ...(isElsewhere ? [`routing.untagged: ids without a tag are answered 404, since ${untagged} is not in routing.providers`] : []),
  ]
}
