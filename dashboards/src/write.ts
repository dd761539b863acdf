/** `npm run dashboards`: writes `dashboards/*.json` anew. */
import { writeFileSync } from 'node:fs'
import { dashboards } from './index.ts'

for (const [file, text] of Object.entries(dashboards())) writeFileSync(new URL(`../${file}`, import.meta.url), text)
