/** HTML as text: what is put in is escaped, and the Markdown of the OpenAPI descriptions becomes HTML. */

export interface Markup {
  readonly html: string
}

type Insert = string | number | Markup | readonly Insert[] | false | undefined

/** A template. Texts become text, whatever they contain. */
export function html(parts: TemplateStringsArray, ...inserts: readonly Insert[]): Markup {
  return { html: parts.map((part, at) => part + htmlOf(inserts[at])).join('') }
}

function htmlOf(insert: Insert): string {
  if (insert === undefined || insert === false) return ''
  if (typeof insert === 'string') return escaped(insert)
  if (typeof insert === 'number') return String(insert)
  return 'html' in insert ? insert.html : insert.map(htmlOf).join('')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}

/** Code and bold words within a line. */
export function inline(text: string): Markup {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith('`') && part.length > 1) return html`<code>${part.slice(1, -1)}</code>`
    return part.startsWith('**') ? html`<strong>${part.slice(2, -2)}</strong>` : html`${part}`
  })
  return html`${parts}`
}

/** Blocks: headings, lists, tables, fenced code and paragraphs. */
export function markdown(text: string): Markup {
  return html`${blocksOf(text).map(blockMarkup)}`
}

/** Parts between empty lines; no fence has one. */
function blocksOf(text: string): readonly string[] {
  return text.split(/\n{2,}/).filter((block) => block.trim() !== '')
}

function blockMarkup(block: string): Markup {
  const lines = block.split('\n')
  const [first = ''] = lines
  if (first.startsWith('```')) return html`<pre><code>${lines.slice(1, -1).join('\n')}</code></pre>`
  if (first.startsWith('## ')) return html`<h3>${inline(first.slice(3))}</h3>`
  if (first.startsWith('|')) return tableMarkup(lines)
  if (/^\d+\. /.test(first)) return html`<ol>${lines.map((line) => html`<li>${inline(line.replace(/^\d+\. /, ''))}</li>`)}</ol>`
  if (first.startsWith('- ')) return html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
  return html`<p>${inline(lines.join(' '))}</p>`
}

function tableMarkup([heading = '', , ...rows]: readonly string[]): Markup {
  const cellsOf = (line: string): readonly string[] => line.split('|').slice(1, -1)
  const head = cellsOf(heading).map((cell) => html`<th scope="col">${inline(cell.trim())}</th>`)
  const body = rows.map((row) => html`<tr>${cellsOf(row).map((cell) => html`<td>${inline(cell.trim())}</td>`)}</tr>`)
  return html`<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
}
