import { setTimeout as wait } from 'node:timers/promises'
import { toIso } from '../../domain/instant.ts'
import type { StoreState } from '../../domain/observation.ts'
import { version } from '../../process/version.ts'
import { upcomingChanges } from '../../process/warnings.ts'
import { ok, type Route, route } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

/** Long before clients' requests give up. */
const ledgerDeadlineMs = 2_000

const redisWords = { shared: 'available', local: 'unavailable', recovering: 'recovering' } as const satisfies Record<
  StoreState,
  string
>

export function healthRoute({ stores, redis, file }: OperatorParts): Route {
  let reading: Promise<boolean> | undefined
  /** Of a ledger that hangs, all requests wait for one and the same answer. */
  const canReadLedger = (): Promise<boolean> => {
    reading ??= stores.overrides
      .read()
      .then(
        () => true,
        () => false,
      )
      .finally(() => {
        reading = undefined
      })
    return Promise.race([reading, wait(ledgerDeadlineMs, false, { ref: false })])
  }
  return route({
    method: 'get',
    path: '/api/health',
    isRead: false, // it says within two seconds what is away
    summary:
      'Whether this process reads the ledger (within 2 s), whether Redis answers it (`null`: not configured), and what changes soon about assets of the table. Always 200.',
    async handle() {
      const canRead = await canReadLedger()
      const now = Date.now()
      const stores = { ledger: canRead ? 'available' : 'unavailable', redis: redisRow(redis()) }
      return ok({ version, now: toIso(now), ...stores, upcoming: upcomingChanges(file().assets, now) })
    },
  })
}

function redisRow(seen: ReturnType<OperatorParts['redis']>) {
  if (!seen) return null
  const { state, lostForMs } = seen
  return { state: redisWords[state], since: lostForMs === undefined ? null : toIso(Date.now() - lostForMs) }
}
