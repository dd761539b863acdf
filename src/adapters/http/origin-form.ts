/** node:http: requests whose target is a whole URL, as proxies get them (RFC 9112 §3.2.2). */
import type { IncomingMessage } from 'node:http'

const absoluteForm = /^https?:\/\/([^/?#@\\\s]+)(\/[^\s]*|\?[^\s]*)?$/i

/** Makes the target a path, and its authority the `Host`, whatever that was. Another target stays as it is. */
export function toOriginForm(request: IncomingMessage): void {
  if (request.url?.startsWith('/') !== false) return
  const [whole, authority, target = '/'] = absoluteForm.exec(request.url) ?? []
  if (whole === undefined) return
  request.url = target.startsWith('/') ? target : `/${target}`
  if (request.headers.host !== undefined) request.headers.host = authority
}
