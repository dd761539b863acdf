/** The accounts with their limits and what they use, and their keys, which are shown once, when they are made. */
import { html, nothing } from 'lit-html'
import { filters, select } from './filters.js'
import { counted, integer, list, none, when } from './format.js'
import { facts, lines } from './lines.js'
import { linkTo } from './navigation.js'
import { changeButton, may } from './roles.js'
import { section } from './section.js'

const maxShown = 200
export const usagePeriods = ['30d', '1d', '7d', '400d']

/** `usage`: since the period of the query. */
export function accountsView({ accounts, usage, keys, query, open }) {
  return html`${accountsSection({ accounts, usage, query, open })} ${keysSection({ keys, query, open })}`
}

// Accounts.

function accountsSection({ accounts, usage, query, open }) {
  const text = query.text?.toLowerCase() ?? ''
  const all = accounts.value ?? []
  const matching = all.filter(({ name }) => name.toLowerCase().includes(text))
  const usageOf = new Map(usage.value?.accounts.map((one) => [one.account, one]))
  const rows = matching.slice(0, maxShown).map((account) => ({ ...account, usage: usageOf.get(account.name) }))
  return section({
    id: 'accounts',
    title: 'Accounts',
    reading: accounts,
    note: accounts.value && integer(all.length),
    action: changeButton({
      role: 'operate',
      label: 'New account…',
      onClick: () => open({ kind: 'limits', account: { limits: {} } }),
    }),
    content: accounts.value
      ? html`${filterForm(query)} ${rows.length > 0 ? accountsTable(rows, usage, query, open) : html`<p class="empty">${all.length === 0 ? 'There is no account. The first key of a name makes one.' : 'No account has this name.'}</p>`}
          ${pageText(matching.length, 'accounts')}`
      : nothing,
  })
}

function filterForm(query) {
  return filters({
    view: 'accounts',
    query,
    label: 'Filter accounts and keys',
    fields: html`<label>Account or id <input name="text" autocomplete="off" spellcheck="false" .value=${query.text ?? ''} /></label>
      <label>Used in the last ${select('since', usagePeriods.slice(1), query.since, periodText, periodText(usagePeriods[0]))}</label>
      <label class="check"><input type="checkbox" name="ended" value="true" .checked=${query.ended === 'true'} /> Also expired and revoked keys</label>`,
  })
}

function periodText(period) {
  return period.replace('d', ' d')
}

function pageText(count, what) {
  if (count <= maxShown) return nothing
  return html`<p class="pages">${integer(maxShown)} of ${integer(count)} ${what}: filter them.</p>`
}

function accountsTable(rows, usage, query, open) {
  const period = periodText(query.since ?? usagePeriods[0])
  return lines({
    name: 'accounts',
    caption: 'Accounts',
    columns: [
      { name: 'name first', heading: 'Account', content: ({ name }) => html`<b>${name}</b>` },
      {
        name: 'valid first-end',
        heading: 'Valid keys',
        content: ({ validKeys, keys }) => `${integer(validKeys)} of ${integer(keys)}`,
      },
      { name: 'limits second', heading: 'Own limits', content: ({ limits }) => limitsText(limits) },
      { name: 'used second-end', heading: `Used in ${period}`, content: (account) => usedText(account, usage) },
      { name: 'actions wide-only', heading: 'Change', content: (account) => accountButtons(account, open) },
    ],
    groups: [{ key: 'all', rows }],
    idOf: ({ name }) => name,
    details: (account) => accountDetails(account, usage, period, open),
  })
}

const limitTexts = { quotes: 'quotes', create: 'creates', read: 'reads', streams: 'streams' }

function limitsText(limits) {
  const own = Object.entries(limits).filter(([, limit]) => limit !== null)
  if (own.length === 0) return html`<span class="soft">as configured</span>`
  return own.map(([name, limit]) => `${limitTexts[name] ?? name} ${integer(limit)}`).join(', ')
}

function usedText({ usage: own }, usage) {
  if (!usage.value) return 'not known'
  if (!own) return '0'
  const requests = Object.values(own.requests).flatMap((counts) => Object.values(counts))
  return `${counted(sum(Object.values(own.swaps)), 'swap')}, ${counted(sum(requests), 'request')}`
}

function sum(counts) {
  return counts.reduce((total, count) => total + count, 0)
}

function accountButtons({ name, limits }, open) {
  return html`${changeButton({
    role: 'operate',
    label: 'Limits…',
    name: `Limits of ${name}`,
    onClick: () => open({ kind: 'limits', account: { name, limits } }),
  })}${newKey(open, name)}`
}

function accountDetails(account, usage, period, open) {
  const { name, createdAt, usage: own } = account
  return html`${facts([
    ['Account', html`${name} <a href=${linkTo('swaps', { query: { account: name } })}>Its swaps</a>`],
    ['Created', when(createdAt)],
    ['Own limits', limitsText(account.limits)],
  ])}
  ${own ? usageFacts(own, usage, period) : nothing}
  <div class="buttons">${accountButtons(account, open)}</div>`
}

/** Amounts with every digit. What is 0 is left out. */
function usageFacts({ creates, swaps, amounts, open, requests }, { value }, period) {
  const countsText = (counts) => {
    const some = Object.entries(counts).filter(([, count]) => count > 0)
    return list(some.map(([word, count]) => `${integer(count)} ${word}`))
  }
  const amountsText = (of) => list(Object.entries(of).map(([code, amount]) => `${amount} ${code}`))
  return html`<h3>Used in ${period}${value.since ? html`, since ${when(value.since)}` : nothing}</h3>
  ${facts([
    ['Creates', countsText(creates)],
    ['Swaps', countsText(swaps)],
    ['Received', amountsText(amounts.in)],
    ['Paid out', amountsText(amounts.out)],
    ['Under way, in', amountsText(open.in)],
    ['Under way, out', amountsText(open.out)],
    ...Object.entries(requests).map(([operation, counts]) => [html`<code>${operation}</code>`, countsText(counts)]),
  ])}`
}

// Keys.

function keysSection({ keys, query, open }) {
  const all = keys.value ?? []
  const text = query.text?.toLowerCase() ?? ''
  const matching = all.filter(
    ({ name, id, hint, state }) =>
      `${name}\n${id}\n${hint ?? ''}`.toLowerCase().includes(text) && (query.ended || state === 'active'),
  )
  return section({
    id: 'keys',
    title: 'Keys',
    reading: keys,
    note: keys.value && counted(all.filter(({ state }) => state === 'active').length, 'valid key'),
    action: newKey(open),
    content: keys.value
      ? html`${matching.length > 0 ? keysTable(matching.slice(0, maxShown), keys.isOld, open) : html`<p class="empty">${emptyText(all, query)}</p>`}
          ${pageText(matching.length, 'keys')}`
      : nothing,
  })
}

/** A button. `name`: of the account, where it is for one. */
export function newKey(open, name) {
  const role = may('money') ? 'money' : 'operate'
  const label = name === undefined ? undefined : `New key of ${name}`
  return changeButton({ role, label: 'New key…', name: label, onClick: () => open({ kind: 'newKey', name }) })
}

function emptyText(all, query) {
  if (all.length === 0) return 'No key was issued. In managed mode each client needs one.'
  return query.text || query.ended ? 'No key has this.' : 'No key is valid.'
}

function keysTable(keys, isOld, open) {
  const groups = [...Map.groupBy(keys, ({ name }) => name)].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return lines({
    name: 'keys',
    caption: 'Keys',
    columns: [
      { name: 'id first', heading: 'Key', content: ({ id, hint }) => html`${hintText(hint)} <code class="soft">${id}</code>` },
      { name: 'status first-end', heading: 'State', content: (key) => stateText(key, isOld) },
      { name: 'access second', heading: 'May, from', content: accessText },
      {
        name: 'used second-end',
        heading: 'Last used',
        content: ({ lastUsedAt }) => (lastUsedAt ? when(lastUsedAt) : 'never used'),
      },
      { name: 'ends wide-only', heading: 'Ends', content: endText },
      { name: 'actions wide-only', heading: 'Change', content: (key) => keyButtons(key, open) },
    ],
    groups: groups.map(([name, rows]) => ({
      key: name,
      rows,
      head: html`<b>${name}</b> <small>${counted(rows.length, 'key')}</small>`,
    })),
    idOf: ({ id }) => id,
    details: (key) => keyDetails(key, isOld, open),
  })
}

function keyDetails(key, isOld, open) {
  const { id, name, hint, scope, networks, createdAt, lastUsedAt } = key
  return html`${facts([
    ['Id', html`<code>${id}</code>`],
    ['Ends with', hint && html`<code>${hint}</code>`],
    ['Account', name],
    ['State', stateText(key, isOld)],
    ['May', scope.join(', ')],
    ['From', networks === null ? 'everywhere' : html`<code>${networks.join(', ')}</code>`],
    ['Created', when(createdAt)],
    ['Last used', lastUsedAt ? html`${when(lastUsedAt)}, to the hour` : 'never'],
    ['Ends', endText(key)],
  ])}
  ${keyButtons(key, open)}`
}

/** Keys of older versions have none. */
function hintText(hint) {
  return hint === null ? nothing : html`<code>…${hint}</code>`
}

function stateText({ state }, isOld) {
  return html`<span class="state ${isOld ? '' : state}">${isOld ? 'was ' : ''}${state === 'active' ? 'valid' : state}</span>`
}

function accessText({ scope, networks }) {
  const what = scope.length === scopes.length ? 'everything' : scope.join(', ')
  return html`${what}${networks === null ? nothing : html`; <code>${networks.join(', ')}</code>`}`
}

/** What a key may do, and what of it is said in the dialog of a new one. */
export const scopes = [
  ['quote', 'quotes'],
  ['read', 'reads'],
  ['create', 'creates'],
  ['native', 'the native lane'],
]

function endText({ state, expiresAt, revokedAt }) {
  if (revokedAt) return html`revoked ${when(revokedAt)}`
  return expiresAt ? html`${state === 'expired' ? 'expired' : 'until'} ${when(expiresAt)}` : html`<span class="soft">never</span>`
}

function keyButtons(key, open) {
  if (key.state !== 'active') return none
  const { id } = key
  return html`<div class="buttons">
    ${changeButton({ role: 'money', label: 'Rotate…', name: `Rotate ${id}`, onClick: () => open({ kind: 'rotateKey', key }) })}
    ${changeButton({ role: 'operate', label: 'Revoke…', name: `Revoke ${id}`, onClick: () => open({ kind: 'revoke', key }) })}
  </div>`
}
