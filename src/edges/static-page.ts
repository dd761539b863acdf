/** Static documents of the public port: the OpenAPI documents and the pages that show them. */
import { Fault } from '../domain/fault.ts'
import type { Form } from '../wire/form.ts'
import type { HttpRequest, HttpResponse } from '../wire/http.ts'
import { acceptsGzip, contentOf, type StaticPage } from '../wire/static-page.ts'
import { baseHeaders, notModifiedIfMatched, optionsResponse, type ResponseContext } from './encode-response.ts'
import { openApi } from './openapi/document.ts'
import type { Served } from './openapi/introduction.ts'

export type StaticPages = ReadonlyMap<string, StaticPage>

/** The reference of the API, which explains each reason at `#<reason>`. */
export const docsPath = '/docs'

const allow = 'GET, HEAD, OPTIONS'

/** The OpenAPI documents of each form, at `openapi.json` of its mount: with amounts as numbers, and as texts. */
export function openApiPages(forms: readonly Form[], served?: Served): readonly StaticPage[] {
  return forms.flatMap((form) =>
    ['', '?amounts=text'].map((query) => ({
      path: `/${form.name.toLowerCase()}/openapi.json${query}`,
      type: 'application/json; charset=utf-8',
      content: contentOf((mountedAt) => openApi(form, served, mountedAt, query !== '')),
      isImmutable: false,
    })),
  )
}

export function pagesOf(pages: readonly StaticPage[]): StaticPages {
  return new Map(pages.map((page) => [page.path, page]))
}

/** Resolves with the page. Rejects with a `Fault`: 405 for other methods, or the conflict of the forms. */
export async function pageResponse(
  page: StaticPage,
  { method, headers, mountedAt = '' }: HttpRequest,
  formConflict: Fault | undefined,
  responseContext: ResponseContext,
): Promise<HttpResponse> {
  if (method === 'OPTIONS') return optionsResponse(allow, responseContext)
  if (method !== 'GET' && method !== 'HEAD') throw new Fault('methodNotAllowed', `This path has ${allow}.`, { allow })
  if (formConflict) throw formConflict
  if (page.location !== undefined) return redirect(locationOf(page.location, page, mountedAt), responseContext)
  const compressed = acceptsGzip(headers['accept-encoding']) ? await page.gzip?.(mountedAt) : undefined
  const { bytes, tag } = compressed ?? page.content(mountedAt)
  const pageHeaders = {
    ...baseHeaders(responseContext, undefined),
    ...(page.gzip && { vary: 'accept-encoding' }),
    ...(compressed && { 'content-encoding': 'gzip' }),
    'content-type': page.type,
    'cache-control': page.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: tag,
    'referrer-policy': 'no-referrer',
    ...(page.contentSecurityPolicy !== undefined && { 'content-security-policy': page.contentSecurityPolicy }),
  }
  return notModifiedIfMatched({ status: 200, headers: pageHeaders, body: '', bytes }, headers['if-none-match'])
}

/** Relative, so that a proxy may add a prefix; below an application whole, since `/swap` and `/swap/` are one path to the gateway. */
function locationOf(location: string, { path }: StaticPage, mountedAt: string): string {
  if (mountedAt === '') return location
  const { pathname, hash } = new URL(location, `http://localhost${mountedAt}${path}`)
  return pathname + hash
}

function redirect(location: string, responseContext: ResponseContext): HttpResponse {
  const headers = { ...baseHeaders(responseContext, undefined), location, 'cache-control': 'no-cache', vary: 'accept' }
  return { status: 302, headers, body: '' }
}
