/** Who changed what by hand. */
import { html, nothing } from 'lit-html'
import { filters, select } from './filters.js'
import { inline, integer, none, when } from './format.js'
import { facts, lines } from './lines.js'
import { linkTo, linkToSwap } from './navigation.js'
import { section } from './section.js'

export const auditDays = ['7d', '1d', '30d', '400d']
const maxShown = 200
const maxRecent = 8
/** Records of reading, which change nothing. */
const reads = new Set([
  'transaction.read',
  'transaction.ask',
  'transaction.search',
  'unresolved.read',
  'order.read',
  'timeline.read',
  'swap.search',
  'role.refused',
])
/** Whose subject is a swap. */
const ofSwaps = new Set([
  ...['transaction.read', 'transaction.ask', 'transaction.settle', 'ledger.resolve', 'order.assign'],
  ...['transaction.refund', 'transaction.continue', 'transaction.refund_address'],
])

export function auditView({ audit, query }) {
  const all = audit.value ?? []
  const text = query.text?.toLowerCase() ?? ''
  const matching = all.filter(
    (record) => (query.reads || !reads.has(record.action)) && JSON.stringify(record).toLowerCase().includes(text),
  )
  return section({
    id: 'audit',
    title: 'Audit log',
    reading: audit,
    note: audit.value && integer(matching.length),
    content: html`${filters({
      view: 'audit',
      query,
      label: 'Filter the audit log',
      fields: html`<label>Of the last ${select('since', auditDays.slice(1), query.since, daysText, daysText(auditDays[0]))}</label>
        <label>Contains <input name="text" autocomplete="off" spellcheck="false" .value=${query.text ?? ''} /></label>
        <label class="check"><input type="checkbox" name="reads" value="true" .checked=${query.reads === 'true'} /> Also who read what</label>`,
    })}
    ${records(matching.slice(0, maxShown), audit, 'Audit log')}
    ${matching.length > maxShown ? html`<p class="pages">The newest ${integer(maxShown)} of ${integer(matching.length)}: filter them.</p>` : nothing}`,
  })
}

function daysText(days) {
  return days.replace('d', ' d')
}

export function recentChanges({ audit }) {
  const changes = (audit.value ?? []).filter(({ action }) => !reads.has(action))
  return section({
    id: 'audit',
    title: 'Recent changes',
    reading: audit,
    note: html`<a href=${linkTo('audit')}>Audit log</a>`,
    content: records(changes.slice(0, maxRecent), audit, 'Recent changes'),
  })
}

function records(rows, { value, isOld }, caption) {
  if (rows.length === 0) return value && !isOld ? html`<p class="empty">Nobody changed anything.</p>` : nothing
  const columns = [
    { name: 'time second-end', heading: 'When', content: ({ at }) => when(at) },
    { name: 'actor first-end', heading: 'Who', content: ({ actor }) => actor },
    { name: 'action first', heading: 'What', content: ({ action }) => html`<code>${action}</code>` },
    { name: 'subject second', heading: 'Of', content: subject },
    { name: 'change wide-only', heading: 'Before and after', content: changeText },
  ]
  return lines({
    name: 'audit',
    caption,
    columns,
    groups: [{ key: 'all', rows }],
    idOf: ({ id }) => id,
    details: (record) =>
      facts([
        ['When', when(record.at)],
        ['Who', record.actor],
        ['What', html`<code>${record.action}</code>`],
        ['Of', subject(record)],
        ['Before', record.before !== null && html`<code>${inline(record.before)}</code>`],
        ['After', record.after !== null && html`<code>${inline(record.after)}</code>`],
      ]),
  })
}

function subject({ action, subject: text }) {
  return ofSwaps.has(action) ? html`<a href=${linkToSwap(text)}><code>${text}</code></a>` : html`<code>${text}</code>`
}

function changeText({ before, after }) {
  if (before === null && after === null) return none
  return html`<code>${before === null ? '' : inline(before)}</code>${before === null || after === null ? '' : ' → '}<code>${after === null ? '' : inline(after)}</code>`
}
