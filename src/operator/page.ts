/** lit-html, served to the browser: the operator's page is templates without a build step, and what the API returns becomes text. */
import { readdirSync, readFileSync } from 'node:fs'

interface PageFile {
  readonly contentType: string
  readonly body: string
}

const folder = new URL('page/', import.meta.url)
const contentTypes: Readonly<Record<string, string>> = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' }
/** The export for Node stands in a folder below the one for browsers. */
const library = new URL('../lit-html.js', import.meta.resolve('lit-html'))

/** The files of the operator's page, by path. */
export function operatorPage(): ReadonlyMap<string, PageFile> {
  const names = readdirSync(folder).filter((name) => name !== 'index.html')
  return new Map([
    ['/', { contentType: 'text/html; charset=utf-8', body: readFileSync(new URL('index.html', folder), 'utf8') }],
    ['/page/lit-html.js', fileOf(library)],
    ...names.map((name) => [`/page/${name}`, fileOf(new URL(name, folder))] as const),
  ])
}

/** Browsers find modules by path only. */
function fileOf(url: URL): PageFile {
  const extension = url.pathname.split('.').at(-1) ?? ''
  const body = readFileSync(url, 'utf8').replaceAll("from 'lit-html'", "from './lit-html.js'")
  return {
    contentType: contentTypes[extension] ?? 'text/plain; charset=utf-8',
    body: body.replace(/^\/\/# sourceMappingURL=.*$/m, ''),
  }
}
