/** Fixed documents at fixed paths of the public port: the descriptions of the forms, and whatever shows them. */
import { Fault } from '../domain/fault.ts'
import type { Form } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import { acceptsGzip, contentOf, type Page } from '../wire/page.ts'
import { openApi } from './openapi/document.ts'
import { baseHeaders, optionsResponse, type Telling, unlessKnown } from './response.ts'

export type Pages = ReadonlyMap<string, Page>

const allow = 'GET, HEAD, OPTIONS'

/** The description of each form, at `openapi.json` of its mount. */
export function descriptions(forms: readonly Form[]): readonly Page[] {
  return forms.map((form) => {
    const path = `/${form.name.toLowerCase()}/openapi.json`
    return { path, type: 'application/json; charset=utf-8', content: contentOf(openApi(form)), isLasting: false }
  })
}

export function pagesOf(pages: readonly Page[]): Pages {
  return new Map(pages.map((page) => [page.path, page]))
}

/** Throws 405 for other methods, and what contradicts the path. */
export function tellPage(page: Page, { method, headers }: HttpRequest, misfit: Fault | undefined, telling: Telling): HttpResponse {
  if (method === 'OPTIONS') return optionsResponse(allow, telling)
  if (method !== 'GET' && method !== 'HEAD') throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  if (misfit) throw misfit
  const compressed = acceptsGzip(headers['accept-encoding']) ? page.gzip : undefined
  const { bytes, tag } = compressed ?? page.content
  const told = {
    ...baseHeaders(telling, undefined),
    ...(page.gzip && { vary: 'accept-encoding' }),
    ...(compressed && { 'content-encoding': 'gzip' }),
    'content-type': page.type,
    'cache-control': page.isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: tag,
    'referrer-policy': 'no-referrer',
    ...(page.policy !== undefined && { 'content-security-policy': page.policy }),
  }
  return unlessKnown({ status: 200, headers: told, body: '', bytes }, headers['if-none-match'])
}
