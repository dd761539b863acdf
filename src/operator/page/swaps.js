/** Swaps that were found: by any id, an address or an account, and by filters. */
import { html, nothing } from 'lit-html'
import { filters, select } from './filters.js'
import { duration, integer, none, orderText, when } from './format.js'
import { lines } from './lines.js'
import { linkTo, linkToSwap } from './navigation.js'
import { section } from './section.js'

export const pageSize = 50
const statuses = ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'overdue', 'refunded']

export function swapsView({ found, report, accounts, query }) {
  const { data = [], count = data.length, after } = found.value ?? {}
  return section({
    id: 'swaps',
    title: 'Swaps',
    reading: found,
    note:
      found.value &&
      html`${query.q === undefined ? '' : html`<code>${query.q}</code>: `}${integer(count)}${after ? ' and more' : ''} found. Addresses are shortened.`,
    content: html`${filterForm({ report, accounts, query })}
      ${data.length > 0 ? table(data) : found.value && !found.isOld ? html`<p class="empty">No swap was found.</p>` : nothing}
      ${count > pageSize ? pages(count, query) : nothing}
      ${after ? html`<p class="pages"><a href=${linkTo('swaps', { query: { ...query, after } })}>Older</a></p>` : nothing}`,
  })
}

function filterForm({ report, accounts, query }) {
  const providers = (report.value?.providers ?? []).map(({ name }) => name)
  return filters({
    view: 'swaps',
    query,
    label: 'Filter swaps',
    fields: html`<label>Account <input name="account" list="accounts" autocomplete="off" .value=${query.account ?? ''} /></label>
      <datalist id="accounts">${(accounts.value ?? []).map(({ name }) => html`<option value=${name}></option>`)}</datalist>
      <label>Provider ${select('provider', providers, query.provider)}</label>
      <label>Status ${select('status', statuses, query.status)}</label>
      <label>Since <input name="since" placeholder="7d" autocomplete="off" .value=${query.since ?? ''} /></label>`,
  })
}

/** A create that is no transaction has no other name than its own. */
function nameOf({ id, intent }) {
  return id ?? intent
}

function table(rows) {
  const columns = [
    {
      name: 'id second',
      heading: 'Id',
      content: (row) => html`<a href=${linkToSwap(nameOf(row))}><code>${nameOf(row)}</code></a>`,
    },
    { name: 'order first', heading: 'Order', content: orderText },
    { name: 'account wide-only', heading: 'Account', content: ({ account }) => account ?? none },
    {
      name: 'status first-end',
      heading: 'Status',
      content: ({ status, state, attention, reads }) =>
        html`${status ?? state ?? 'unknown'}${attention ? html`, <b class="alarm">${attention}</b>` : nothing}${reads?.failing ? html`, <b class="alarm">not read ${duration(Date.now() - Date.parse(reads.failing.since))}</b>` : nothing}`,
    },
    {
      name: 'address wide-only',
      heading: 'To',
      content: ({ withdrawalAddress }) => html`<code>${withdrawalAddress ?? none}</code>`,
    },
    { name: 'time second-end', heading: 'Created', content: ({ createdAt, attemptedAt }) => when(createdAt ?? attemptedAt) },
    { name: 'changed wide-only', heading: 'Changed', content: ({ changedAt }) => when(changedAt) },
  ]
  return lines({ name: 'swaps', caption: 'Swaps found', columns, groups: [{ key: 'all', rows }], idOf: nameOf })
}

function pages(count, query) {
  const page = Number(query.page ?? 1)
  const last = Math.ceil(count / pageSize)
  const link = (to, label) =>
    to < 1 || to > last ? nothing : html`<a href=${linkTo('swaps', { query: { ...query, page: to } })}>${label}</a>`
  return html`<p class="pages">Page ${integer(page)} of ${integer(last)} ${link(page - 1, 'Newer')} ${link(page + 1, 'Older')}</p>`
}
