/** express: the operator's page. lit-html, served to the browser: the operator's page is templates without a build step, and what the API returns becomes text. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { Router } from 'express'
import { readOnly } from '../adapters/http/admin.ts'

const folder = new URL('page/', import.meta.url)
const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}
/** The export for Node stands in a folder below the one for browsers. */
const library = new URL('../', import.meta.resolve('lit-html'))
/** `directives/repeat.js` keeps a row, with the keyboard's focus, where rows before it go; it needs the others. */
const libraryFiles = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js']

/** `scripts`: what may run besides the files of the page. */
const contentSecurityPolicy = (scripts: string): string =>
  `default-src 'none'; script-src 'self'${scripts}; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

/** The operator's page at `/`, and its files. */
export function addPage(router: Router): void {
  const serve = (path: string, url: URL): void => {
    const type = contentTypes[url.pathname.split('.').at(-1) ?? ''] ?? 'text/plain; charset=utf-8'
    const text = textOf(url)
    const policy = contentSecurityPolicy(url.pathname.endsWith('.html') ? ownScripts(text) : '')
    readOnly(router, path, (_, response) => {
      response.set({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' }).type(type).send(text)
    })
  }
  serve('/', new URL('index.html', folder))
  for (const name of libraryFiles) serve(`/page/lit-html/${name}`, new URL(name, library))
  for (const name of readdirSync(folder)) if (name !== 'index.html') serve(`/page/${name}`, new URL(name, folder))
}

/** The digests of the scripts that stand in a page. */
function ownScripts(html: string): string {
  const [, ...scripts] = html.split('<script>').map((part) => part.split('</script>', 1)[0] ?? '')
  const digests = scripts.map((text) => createHash('sha256').update(text).digest('base64'))
  return digests.map((digest) => ` 'sha256-${digest}'`).join('')
}

/** Browsers find modules by path only. */
function textOf(url: URL): string {
  const text = readFileSync(url, 'utf8')
    .replaceAll("from 'lit-html'", "from './lit-html/lit-html.js'")
    .replaceAll("from 'lit-html/", "from './lit-html/")
  return text.replace(/^\/\/# sourceMappingURL=.*$/m, '')
}
