/** The pages beside the API, made once for all responses. */

import { apiDocsPages, withGzip } from '../adapters/http/pages.ts'
import { openApiPages, pagesOf, type StaticPages } from '../edges/static-page.ts'
import type { Form } from '../wire/form.ts'

export function preparePages(forms: readonly Form[]): StaticPages {
  return pagesOf([...openApiPages(forms), ...apiDocsPages(forms)].map(withGzip))
}

export const noPages: StaticPages = new Map()
