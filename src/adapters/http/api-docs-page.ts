/** swagger-ui-dist: the reference page for people, whole in the package, so that a browser asks nobody but the gateway. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import manifest from 'swagger-ui-dist/package.json' with { type: 'json' }
import type { Form } from '../../wire/form.ts'
import { contentOf, type StaticPage } from '../../wire/static-page.ts'

const root = 'docs'
/** A file of another version has another path. */
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

/** The page at `/docs`, on which a form can be chosen, and the files that it needs. */
export function apiDocsPages(forms: readonly Form[]): readonly StaticPage[] {
  return [
    { ...file(root, 'text/html; charset=utf-8', html()), contentSecurityPolicy },
    file(`${root}/start.js`, 'text/javascript; charset=utf-8', start(forms)),
    ...styles.map((name) => immutableFile(name, 'text/css; charset=utf-8')),
    ...scripts.map((name) => immutableFile(name, 'text/javascript; charset=utf-8')),
  ]
}

function file(path: string, type: string, text: string): StaticPage {
  return { path: `/${path}`, type, content: contentOf(text), isImmutable: false }
}

const { resolve } = createRequire(import.meta.url)

function immutableFile(name: string, type: string): StaticPage {
  const text = readFileSync(resolve(`swagger-ui-dist/${name}`), 'utf8')
  return { ...file(`${folder}/${name}`, type, text), isImmutable: true }
}

/** Its links have no slash in front: they hold behind a proxy that puts something before `/docs`, too. */
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
 * Keys are kept nowhere, and nothing is sent to the validator that the library asks unless it is told not to. Its logo is
 * replaced because it has styles inside, which the policy forbids.
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
