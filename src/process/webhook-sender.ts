import { tunnelThrough } from '../adapters/tunnel.ts'
import { postWebhook } from '../adapters/webhook-connection.ts'
import { secretBox, signedHeaders } from '../adapters/webhook-crypto.ts'
import type { Config } from '../config/index.ts'
import type { SendWebhook } from '../core/ports/webhooks.ts'
import { allowedTargets } from '../domain/webhook-target.ts'
import { freshLookup, receivers } from './name-lookup.ts'
import { version } from './version.ts'

/** Signs and sends, as this configuration says. */
export function webhookSender({ webhooks: { key, allow, proxy } }: Pick<Config, 'webhooks'>): SendWebhook {
  const { open } = secretBox(key)
  const tunnel = proxy === undefined ? undefined : tunnelThrough(proxy, freshLookup)
  const allowed = allowedTargets(allow)
  return async ({ id: webhook, owner, url, secret, previous }, id, body) => {
    const now = Date.now()
    const current = open(secret, webhook)
    const former = previous && previous.until > now ? open(previous.secret, webhook) : undefined
    if (current === undefined) return { at: now, status: null, ms: 0, body: null, reason: 'secret' }
    const signed = signedHeaders(id, Math.floor(now / 1_000), body, former === undefined ? [current] : [current, former])
    const request = { url, headers: { ...signed, 'user-agent': `swapgate/${version}` }, body }
    return await postWebhook(request, { lookup: receivers.lookupOf(owner), allowed, tunnel })
  }
}
