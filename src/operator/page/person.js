/** What needs a person: one line a row, by cause, with what settles it. */
import { html, nothing } from 'lit-html'
import { causeText, groupsOf, idOf, isCreate, mayStillRun, orderOf, reportedText, startedAt } from './causes.js'
import { filters, select } from './filters.js'
import { counted, duration, integer, none, orderText, shortened, time, when } from './format.js'
import { facts, lines } from './lines.js'
import { linkTo, linkToSwap } from './navigation.js'
import { changeButton } from './roles.js'
import { section } from './section.js'

/** `query`: the filters. `turn(path)` shows another page of creates, `open` a dialog. */
export function personView({ unresolved, query, first, turn, open }) {
  const { value } = unresolved
  const all = value?.rows ?? []
  const rows = all.filter((row) => matches(row, query))
  return section({
    id: 'person',
    title: 'What needs a person',
    reading: unresolved,
    note: value && countText(value, rows.length, first),
    content: html`
      ${all.length === 0 ? nothing : filterForm(all, query)}
      ${value && rows.length === 0 ? nothingText(all, unresolved, query) : nothing}
      ${rows.length === 0 ? nothing : table(rows, query, open)}
      ${value && (value.next || value.path !== first) ? pages(value, first, turn) : nothing}
    `,
  })
}

/** A line for each cause, for the first view. */
export function personSummary({ unresolved }) {
  const rows = unresolved.value?.rows
  return section({
    id: 'person',
    title: 'What needs a person',
    reading: unresolved,
    note: rows?.length > 0 ? html`<a href=${linkTo('person')}>All ${integer(rows.length)}</a>` : undefined,
    content: !rows
      ? nothing
      : rows.length === 0
        ? nothingText(rows, unresolved, {})
        : html`<ul class="causes">${groupsOf(rows).map(causeLine)}</ul>`,
  })
}

function causeLine({ kind, provider, reason, cause, oldest, rows }) {
  const query = { kind, provider, ...(mayStillRun(rows[0]) ? {} : { reason }) }
  return html`<li>
    <a href=${linkTo('person', { query })}>${counted(rows.length, kind)} at ${provider}</a>
    <span><b class="alarm">${cause}</b>, the oldest since ${when(oldest)}</span>
  </li>`
}

/** Only what was just read is well. */
function nothingText(all, { isOld, at, ageMs }, query) {
  if (all.length > 0 && Object.keys(query).length > 0) return html`<p class="empty">Nothing has all of these.</p>`
  if (isOld)
    return html`<p class="empty" data-unknown>Whether anything needs a person is not known. Nothing did ${duration(ageMs)} ago, at ${time(at)}.</p>`
  return html`<p class="empty">Every create has an outcome. No transaction has failed, is held or lost, or has an unknown status.</p>`
}

function matches(row, { kind, provider, reason, account, text }) {
  const wanted = [
    [kind, isCreate(row) ? 'create' : 'transaction'],
    [provider, row.provider],
    [reason, groupsOf([row])[0].reason],
    [account, row.account],
  ]
  if (wanted.some(([value, own]) => value !== undefined && value !== own)) return false
  return text === undefined || JSON.stringify(row).toLowerCase().includes(text.toLowerCase())
}

function filterForm(rows, query) {
  const valuesOf = (of) => [...new Set(rows.map(of))].filter((value) => value !== undefined && value !== null).toSorted()
  const reasons = new Map(rows.map((row) => [groupsOf([row])[0].reason, causeText(row)]))
  return filters({
    view: 'person',
    query,
    label: 'Filter what needs a person',
    fields: html`
      <label>Provider ${select(
        'provider',
        valuesOf(({ provider }) => provider),
        query.provider,
      )}</label>
      <label>Cause ${select('reason', [...reasons.keys()].toSorted(), query.reason, (reason) => reasons.get(reason))}</label>
      <label>Account ${select(
        'account',
        valuesOf(({ account }) => account),
        query.account,
      )}</label>
      <label>Contains <input name="text" autocomplete="off" spellcheck="false" .value=${query.text ?? ''} /></label>
      <input type="hidden" name="kind" .value=${query.kind ?? ''} />
    `,
  })
}

function table(rows, query, open) {
  const columns = [
    { name: 'id second', heading: 'Id', content: (row) => html`<a href=${linkToSwap(idOf(row))}><code>${idOf(row)}</code></a>` },
    { name: 'order first', heading: 'Order', content: (row) => orderText(orderOf(row)) },
    { name: 'account first-end', heading: 'Account', content: ({ account }) => account ?? none },
    {
      name: 'address wide-only',
      heading: 'To',
      content: (row) => html`<code>${shortened(orderOf(row).withdrawalAddress ?? none)}</code>`,
    },
    { name: 'reported wide-only', heading: 'Provider reported', content: reportedText },
    { name: 'time second-end', heading: 'Since', content: (row) => when(startedAt(row)) },
    { name: 'actions wide-only', heading: 'Settle', content: (row) => actions(row, open) },
  ]
  return lines({
    name: 'person',
    caption: 'What needs a person',
    columns,
    groups: groupsOf(rows).map((group) => ({ ...group, head: groupHead(group, query, open) })),
    idOf,
    details: (row) => details(row, open),
  })
}

function groupHead(group, query, open) {
  const { kind, provider, cause, oldest, rows } = group
  const what = `${counted(rows.length, kind)} at ${provider}: ${cause}`
  return html`<span>${counted(rows.length, kind)} at <b>${provider}</b>: <b class="alarm">${cause}</b></span>
    <small>the oldest since ${when(oldest)}</small>
    ${
      // Not by a text: the API does not select by one.
      query.text
        ? nothing
        : changeButton({
            role: 'money',
            label: 'Settle together…',
            name: `Settle together: ${what}`,
            onClick: () => open({ kind: 'settleMany', group, query }),
          })
    }`
}

/** Bound and deleted one by one: each needs its own proof. */
export function actions(row, open) {
  if (!isCreate(row))
    return changeButton({
      role: 'money',
      label: 'Settle…',
      name: `Settle ${row.id}`,
      onClick: () => open({ kind: 'settle', transaction: row }),
    })
  const button = (kind, label) =>
    changeButton({
      role: 'money',
      label: `${label}…`,
      name: `${label} for ${row.intent}`,
      onClick: () => open({ kind, create: row }),
    })
  return html`${button('bind', 'Bind')}${button('none', 'None')}`
}

function details(row, open) {
  const { account, provider, reported, candidates = [], deadline, reportedAt } = row
  return html`${facts([
    ['Id', html`<a href=${linkToSwap(idOf(row))}><code>${idOf(row)}</code></a>`],
    ['Cause', causeText(row)],
    ['Account', account],
    ['Provider', provider],
    ['Order', orderText(orderOf(row))],
    ['To', orderOf(row).withdrawalAddress && html`<code>${orderOf(row).withdrawalAddress}</code>`],
    ['Provider reported', reported && reportedText(row)],
    ['May be', candidates.length > 0 && html`<code>${candidates.join(', ')}</code>`],
    ['Since', when(startedAt(row))],
    ['A response may come until', deadline && when(new Date(deadline).toISOString())],
    ['Last seen', reportedAt && when(reportedAt)],
  ])}
  <div class="buttons">${actions(row, open)}</div>`
}

function countText({ rows, path, next }, shown, first) {
  if (rows.length === 0) return ''
  const all = `${integer(rows.length)}${path === first ? '' : ' on this page'}${next ? ', and more' : ''}`
  return shown === rows.length ? all : `${integer(shown)} of ${all}`
}

function pages({ path, next }, first, turn) {
  const button = (to, label) =>
    html`<button type="button" aria-disabled=${to ? nothing : 'true'} @click=${() => to && turn(to)}>${label}</button>`
  return html`<p class="pages">The oldest creates come first. ${button(path === first ? undefined : first, 'First')} ${button(next, 'Next')}</p>`
}
