/** Writes `docs/openapi/<form>.json` and `<form>-text.json` from the forms: `npm run docs:openapi`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { openApi } from '../src/edges/openapi/document.ts'
import { forms } from '../src/forms/index.ts'

const directory = new URL('../docs/openapi/', import.meta.url)

mkdirSync(directory, { recursive: true })
for (const form of forms) {
  const name = form.name.toLowerCase()
  writeFileSync(new URL(`${name}.json`, directory), openApi(form))
  writeFileSync(new URL(`${name}-text.json`, directory), openApi(form, undefined, '', true))
}
