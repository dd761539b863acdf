/** The pages beside the API, made once for all responses. */

import manifest from '../../package.json' with { type: 'json' }
import { apiDocsPages, withGzip } from '../adapters/http/pages.ts'
import { openApiPages, pagesOf, type StaticPages } from '../edges/static-page.ts'
import type { Form } from '../wire/form.ts'

export function preparePages(forms: readonly Form[]): StaticPages {
  return pagesOf([...openApiPages(forms), ...apiDocsPages(forms)].map(withGzip))
}

export const noPages: StaticPages = new Map()

/** The version of the package. */
export const version: string = manifest.version
