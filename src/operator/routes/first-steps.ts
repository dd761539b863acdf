import { ok, type Route, route } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

export function firstStepsRoute({ stores: { ledgerAdmin }, file, isSandboxAlone, publicUrl }: OperatorParts): Route {
  /** A ledger that has had one is not asked again. */
  let hasSwap = false
  const steps = async () => {
    const url = publicUrl()
    if (hasSwap || url === undefined || !isSandboxAlone()) return null
    hasSwap = (await ledgerAdmin.search({ page: 1, size: 1 })).count > 0
    const { auth, docs } = file()
    return hasSwap ? null : { url, mode: auth.mode, docs }
  }
  return route({
    method: 'get',
    path: '/api/first-steps',
    summary: 'What a first swap needs, as long as the sandbox is the only provider and the ledger has no swap; else `null`.',
    handle: async () => ok({ steps: await steps() }),
  })
}
