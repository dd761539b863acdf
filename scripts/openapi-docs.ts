/** Writes `docs/openapi/<form>.json` from the forms: `npm run docs:openapi`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { openApi } from '../src/edges/openapi/document.ts'
import { forms } from '../src/forms/index.ts'

const directory = new URL('../docs/openapi/', import.meta.url)

mkdirSync(directory, { recursive: true })
for (const form of forms) writeFileSync(new URL(`${form.name.toLowerCase()}.json`, directory), openApi(form))
