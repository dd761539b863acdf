/** The accounts and their keys; keys themselves are shown once, when they are made. */
import { html, nothing } from 'lit-html'
import { filters } from './filters.js'
import { counted, integer, none, when } from './format.js'
import { lines } from './lines.js'
import { linkTo } from './navigation.js'
import { changeButton, may } from './roles.js'
import { section } from './section.js'

const maxShown = 200

export function accountsView({ keys, query, open }) {
  const all = keys.value ?? []
  const text = query.text?.toLowerCase() ?? ''
  const matching = all.filter(
    ({ name, id, state }) => `${name}\n${id}`.toLowerCase().includes(text) && (query.ended || state === 'active'),
  )
  const shown = matching.slice(0, maxShown)
  return section({
    id: 'accounts',
    title: 'Accounts and keys',
    reading: keys,
    note: keys.value && countText(all),
    action: newKey(open),
    content: keys.value
      ? html`${filterForm(query)} ${shown.length > 0 ? table(shown, keys.isOld, open) : html`<p class="empty">${emptyText(all, query)}</p>`}
          ${matching.length > maxShown ? html`<p class="pages">${integer(maxShown)} of ${integer(matching.length)} keys: filter them.</p>` : nothing}`
      : nothing,
  })
}

function countText(keys) {
  const valid = keys.filter(({ state }) => state === 'active').length
  return `${counted(new Set(keys.map(({ name }) => name)).size, 'account')}, ${counted(valid, 'valid key')}`
}

function emptyText(all, query) {
  if (all.length === 0) return 'No key was issued. In managed mode each client needs one.'
  return query.text || query.ended ? 'No key has this.' : 'No key is valid.'
}

function filterForm(query) {
  return filters({
    view: 'accounts',
    query,
    label: 'Filter keys',
    fields: html`<label>Account or id <input name="text" autocomplete="off" spellcheck="false" .value=${query.text ?? ''} /></label>
      <label class="check"><input type="checkbox" name="ended" value="true" .checked=${query.ended === 'true'} /> Also expired and revoked keys</label>`,
  })
}

function table(keys, isOld, open) {
  const columns = [
    { name: 'id first', heading: 'Key', content: ({ id }) => html`<code>${id}</code>` },
    {
      name: 'status wide-only',
      heading: 'State',
      content: ({ state }) =>
        html`<span class="state ${isOld ? '' : state}">${isOld ? 'was ' : ''}${state === 'active' ? 'valid' : state}</span>`,
    },
    { name: 'time second', heading: 'Created', content: ({ createdAt }) => when(createdAt) },
    { name: 'ends second-end', heading: 'Ends', content: endText },
    { name: 'actions first-end', heading: 'Change', content: (key) => revoke(key, open) },
  ]
  const groups = [...Map.groupBy(keys, ({ name }) => name)].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return lines({
    name: 'keys',
    caption: 'Accounts and keys',
    columns,
    groups: groups.map(([name, rows]) => ({ key: name, rows, head: accountHead(name, rows, open) })),
    idOf: ({ id }) => id,
  })
}

function accountHead(name, rows, open) {
  return html`<b>${name}</b> <small>${counted(rows.length, 'key')}</small>
    <a href=${linkTo('swaps', { query: { account: name } })} aria-label="Swaps of ${name}">Swaps</a>
    ${newKey(open, name)}`
}

function newKey(open, name) {
  const label = name === undefined ? undefined : `New key of ${name}`
  const role = may('money') ? 'money' : 'operate'
  return changeButton({ role, label: 'New key…', name: label, onClick: () => open({ kind: 'newKey', name }) })
}

function endText({ state, expiresAt, revokedAt }) {
  if (revokedAt) return html`revoked ${when(revokedAt)}`
  return expiresAt ? html`${state === 'expired' ? 'expired' : 'until'} ${when(expiresAt)}` : html`<span class="soft">never</span>`
}

function revoke(key, open) {
  if (key.state !== 'active') return none
  return changeButton({
    role: 'operate',
    label: 'Revoke…',
    name: `Revoke ${key.id}`,
    onClick: () => open({ kind: 'revoke', key }),
  })
}
