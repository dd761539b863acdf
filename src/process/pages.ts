/** The pages beside the API, made and compressed once for all responses. */

import { apiDocsPages } from '../adapters/http/api-docs-page.ts'
import { withGzip } from '../adapters/http/gzip.ts'
import { openApiPages, pagesOf, type StaticPages } from '../edges/static-page.ts'
import type { Form } from '../wire/form.ts'

export async function preparePages(forms: readonly Form[]): Promise<StaticPages> {
  return pagesOf(await Promise.all([...openApiPages(forms), ...apiDocsPages(forms)].map(withGzip)))
}

export const noPages: StaticPages = new Map()
