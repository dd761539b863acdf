/** swagger-ui-dist: the API reference page. All files come from the package, so that a browser loads nothing from other hosts. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import manifest from 'swagger-ui-dist/package.json' with { type: 'json' }
import { memoize } from '../../domain/async.ts'
import type { Form } from '../../wire/form.ts'
import { type Content, contentOf, type StaticPage } from '../../wire/static-page.ts'

const root = 'docs'
/** The path contains the version: files can be cached for ever. */
const folder = `${root}/${manifest.version}`
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const scripts = ['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js']
const styles = ['swagger-ui.css', 'index.css']

/** The page at `/docs`, with a choice of the form, and its files. */
export function apiDocsPages(forms: readonly Form[]): readonly StaticPage[] {
  return [
    { ...file(root, 'text/html; charset=utf-8', html), contentSecurityPolicy },
    file(`${root}/start.js`, 'text/javascript; charset=utf-8', () => start(forms)),
    ...styles.map((name) => immutableFile(name, 'text/css; charset=utf-8')),
    ...scripts.map((name) => immutableFile(name, 'text/javascript; charset=utf-8')),
  ]
}

function file(path: string, type: string, text: () => string): StaticPage {
  return { path: `/${path}`, type, content: contentOf(text), isImmutable: false }
}

const { resolve } = createRequire(import.meta.url)

function immutableFile(name: string, type: string): StaticPage {
  const path = resolve(`swagger-ui-dist/${name}`)
  return { ...file(`${folder}/${name}`, type, () => readFileSync(path, 'utf8')), isImmutable: true }
}

/** The links are relative, so that they work behind a proxy that adds a path prefix. */
function html(): string {
  const tags = [
    ...styles.map((name) => `<link rel="stylesheet" href="${folder}/${name}">`),
    ...scripts.map((name) => `<script src="${folder}/${name}" defer></script>`),
    `<script src="${root}/start.js" defer></script>`,
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>swapgate: the API</title>
<link rel="icon" href="data:,">
${tags.join('\n')}
</head>
<body>
<div id="reference"></div>
</body>
</html>
`
}

/**
 * Does not store keys. Switches off the library's online validator, which is on by default. Replaces its logo, which has
 * inline styles: the content security policy forbids them.
 */
function start(forms: readonly Form[]): string {
  const urls = forms.map(({ name }) => ({ name: `Form ${name}`, url: `${name.toLowerCase()}/openapi.json` }))
  return `SwaggerUIBundle({
  urls: ${JSON.stringify(urls)},
  dom_id: '#reference',
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [() => ({ components: { Logo: () => 'swapgate' } })],
  layout: 'StandaloneLayout',
  validatorUrl: null,
  persistAuthorization: false,
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
})
`
}

// node:zlib: compresses each page once, when a client first accepts gzip, since few processes ever show their pages.

const compress = promisify(gzip)

/** Adds a gzip representation with its own ETag to the page (RFC 9110 §8.8.3). */
export function withGzip(page: StaticPage): StaticPage {
  return { ...page, gzip: memoize(async () => compressed(page.content())) }
}

async function compressed({ bytes, tag }: Content): Promise<Content> {
  return { bytes: await compress(bytes, { level: 9 }), tag: tag.replace(/"$/, '-gzip"') }
}
