/** The pages beside the API, made and compressed once for all answers. */
import { withGzip } from '../adapters/gzip.ts'
import { referencePages } from '../adapters/reference.ts'
import { descriptions, type Pages, pagesOf } from '../edges/page.ts'
import type { Form } from '../wire/form.ts'

export async function preparePages(forms: readonly Form[]): Promise<Pages> {
  return pagesOf(await Promise.all([...descriptions(forms), ...referencePages(forms)].map(withGzip)))
}

export const noPages: Pages = new Map()
