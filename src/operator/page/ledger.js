/** What the ledger holds: creates that need a person, changes by hand, and transactions of an account. */
import { html, nothing } from 'lit-html'
import { inline, integer, none, orderText, time } from './format.js'
import { table } from './table.js'

const shownChanges = 20
export const pageSize = 20

/** `first`: the path of the first page; `turn(path)` shows another one. */
export function unresolvedSection({ unresolved, open, first, turn }) {
  const rows = unresolved?.rows
  const creates = rows?.filter(({ state }) => state !== 'attention')
  const transactions = rows?.filter(({ state }) => state === 'attention')
  return html`<section aria-labelledby="unresolved">
    <div class="head"><h2 id="unresolved">What needs a person</h2><p>${unresolved ? countText(unresolved, first) : 'Loading…'}</p></div>
    ${
      rows?.length === 0
        ? html`<p class="empty">Every create has an outcome. No transaction is reported as failed or held.</p>`
        : nothing
    }
    ${creates?.length > 0 ? createsTable(creates, open) : nothing}
    ${transactions?.length > 0 ? attentionTable(transactions, open) : nothing}
    ${unresolved && (unresolved.next || unresolved.path !== first) ? unresolvedPages(unresolved, first, turn) : nothing}
  </section>`
}

function unresolvedPages({ path, next }, first, turn) {
  const button = (to, label) =>
    html`<button type="button" aria-disabled=${to ? nothing : 'true'} @click=${() => to && turn(to)}>${label}</button>`
  return html`<p class="pages">The oldest creates come first. ${button(path === first ? undefined : first, 'First')} ${button(next, 'Next')}</p>`
}

function attentionTable(rows, open) {
  const columns = [
    { heading: 'Transaction', content: ({ id }) => html`<code>${id}</code>` },
    { heading: 'Account', content: ({ account }) => account ?? none },
    { heading: 'Provider reported', content: ({ attention }) => html`<b class="alarm">${attention}</b>` },
    { heading: 'Status', content: ({ status }) => status ?? 'unknown' },
    {
      heading: 'Order',
      content: (row) => html`${orderText(row)}<br /><small>to <code>${row.withdrawalAddress ?? none}</code></small>`,
    },
    { heading: 'Created', content: ({ createdAt }) => when(createdAt) },
    { heading: 'Last seen', content: ({ reportedAt }) => when(reportedAt) },
    {
      heading: 'Settle',
      content: (transaction) =>
        html`<div class="buttons"><button type="button" aria-label="Settle ${transaction.id}" @click=${() => open({ kind: 'settle', transaction })}>Settle…</button></div>`,
    },
  ]
  return table({ caption: 'Transactions that need a person', columns, rows })
}

function createsTable(rows, open) {
  const button = (create, how, label) =>
    html`<button type="button" aria-label="${label} for ${create.intent}" @click=${() => open({ kind: how, create })}>${label}…</button>`
  const columns = [
    { heading: 'Create', content: ({ intent }) => html`<code>${intent}</code>` },
    { heading: 'Provider', content: ({ provider }) => provider },
    { heading: 'Outcome', content: ({ state }) => html`<b class="alarm">${state === 'pending' ? 'may still run' : state}</b>` },
    { heading: 'Attempted', content: ({ attemptedAt }) => when(attemptedAt) },
    {
      heading: 'Order',
      content: ({ requested }) =>
        html`${orderText(requested)}<br /><small>to <code>${requested.withdrawalAddress ?? none}</code></small>`,
    },
    {
      heading: 'Provider reported',
      content: ({ reported, candidates = [] }) =>
        reported
          ? html`<code>${reported.id}</code>, ${reported.fields.includes('refused') ? 'although it was refused' : `differs in ${reported.fields.join(', ')}`}`
          : candidates.length > 0
            ? html`may be <code>${candidates.join(', ')}</code>`
            : none,
    },
    {
      heading: 'Settle',
      content: (create) => html`<div class="buttons">${button(create, 'bind', 'Bind')}${button(create, 'none', 'None')}</div>`,
    },
  ]
  return table({ caption: 'Creates that need a person', columns, rows })
}

function countText({ rows, path, next }, first) {
  if (rows.length === 0) return ''
  return `${integer(rows.length)}${path === first ? '' : ' on this page'}${next ? ', and more' : ''}`
}

export function auditSection({ audit }) {
  const columns = [
    { heading: 'When', content: ({ at }) => when(at) },
    { heading: 'Who', content: ({ actor }) => actor },
    { heading: 'What', content: ({ action }) => html`<code>${action}</code>` },
    { heading: 'Of', content: ({ subject }) => html`<code>${subject}</code>` },
    { heading: 'Before', content: ({ before }) => (before === null ? none : html`<code>${inline(before)}</code>`) },
    { heading: 'After', content: ({ after }) => (after === null ? none : html`<code>${inline(after)}</code>`) },
  ]
  const rows = (audit ?? []).slice(0, shownChanges)
  return html`<section aria-labelledby="audit">
    <div class="head"><h2 id="audit">Recent changes</h2><p>The last ${shownChanges} of seven days</p></div>
    ${table({ caption: 'Recent changes', columns, rows, empty: audit ? 'Nobody changed anything.' : 'Loading…' })}
  </section>`
}

const statuses = ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'overdue', 'refunded']

export function transactionsSection({ report, accounts, search, find }) {
  const submit = (event) => {
    event.preventDefault()
    find(Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== '')), 1)
  }
  return html`<section aria-labelledby="transactions">
    <div class="head"><h2 id="transactions">Transactions</h2><p>Addresses are shortened</p></div>
    <form class="search" @submit=${submit}>
      <label>Account <input name="account" list="accounts" autocomplete="off" /></label>
      <datalist id="accounts">${(accounts ?? []).map(({ name }) => html`<option value=${name}></option>`)}</datalist>
      <label>Provider ${select(
        'provider',
        (report?.providers ?? []).map(({ name }) => name),
      )}</label>
      <label>Status ${select('status', statuses)}</label>
      <label>Since <input name="since" placeholder="7d" autocomplete="off" /></label>
      <button type="submit">Search</button>
    </form>
    <div aria-live="polite">${search ? found(search, find) : nothing}</div>
  </section>`
}

function select(name, options) {
  return html`<select name=${name}><option value="">any</option>${options.map((option) => html`<option value=${option}>${option}</option>`)}</select>`
}

function found({ error, data, count, query, page }, find) {
  if (error) return html`<p class="error">${error}</p>`
  const columns = [
    { heading: 'Transaction', content: ({ id }) => html`<code>${id}</code>` },
    { heading: 'Account', content: ({ account }) => account ?? none },
    { heading: 'Status', content: ({ status }) => status ?? 'unknown' },
    { heading: 'Order', content: orderText },
    { heading: 'To', content: ({ withdrawalAddress }) => html`<code>${withdrawalAddress ?? none}</code>` },
    { heading: 'Created', content: ({ createdAt }) => when(createdAt) },
    { heading: 'Changed', content: ({ changedAt }) => when(changedAt) },
  ]
  const pages = Math.max(1, Math.ceil(count / pageSize))
  const turn = (to, label) =>
    html`<button type="button" aria-disabled=${to < 1 || to > pages ? 'true' : nothing} @click=${() => to >= 1 && to <= pages && find(query, to)}>${label}</button>`
  return html`${table({ caption: 'Transactions found', columns, rows: data, empty: 'No transaction was found.' })}
    <p class="pages">${integer(count)} found, page ${integer(page)} of ${integer(pages)} ${turn(page - 1, 'Newer')} ${turn(page + 1, 'Older')}</p>`
}

function when(text) {
  return text ? html`<time datetime=${text}>${time(text)}</time>` : none
}
