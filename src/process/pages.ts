/** The pages beside the API, as a configuration has them: each is made at its first request. */
import { withGzip } from '../adapters/http/pages.ts'
import type { Config } from '../config/index.ts'
import type { Served } from '../edges/openapi/introduction.ts'
import { openApiPages, pagesOf, type StaticPages } from '../edges/static-page.ts'
import { referencePages } from '../reference/page.ts'
import type { Form } from '../wire/form.ts'

/** `hasPorts`: whether the gateway listens at those of its configuration. */
export function preparePages(forms: readonly Form[], hasPorts = true): (config: Config) => StaticPages {
  return (config) => {
    const served = servedBy(config, hasPorts)
    const { host, port } = config.server
    // For who reads without JavaScript; with it the page knows its own address.
    const origin = hasPorts && port !== 0 && host === '127.0.0.1' ? `http://${host}:${port}` : 'https://gateway.example'
    return pagesOf([...openApiPages(forms, served), ...referencePages(forms, served, origin)].map(withGzip))
  }
}

function servedBy(
  { auth, creates, defaultForm, keyInQuery, limits, routing, providers, sandbox }: Config,
  hasPorts: boolean,
): Served {
  const isManaged = auth.mode === 'managed'
  const active = providers.filter(({ name }) => routing.providers.includes(name))
  const withMemos = active.filter(({ extraIds }) => extraIds !== false).length
  return {
    isManaged,
    defaultForm,
    keyInQuery,
    requiresIdempotencyKey: creates.requireIdempotencyKey,
    limits,
    picks: isManaged ? routing.pick : [],
    memos: withMemos === 0 ? 'none' : withMemos === active.length ? 'all' : 'some',
    sandbox:
      hasPorts && sandbox.enabled ? { port: sandbox.port, takesKeys: !isManaged && active.every((one) => one.sandbox) } : undefined,
  }
}
