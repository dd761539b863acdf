/** After a restored backup: orders that the ledger lacked, those that wait for a person and those that are assigned. */
import { html, nothing } from 'lit-html'
import { call } from './api.js'
import { counted, integer, none, orderText, shortened, when } from './format.js'
import { facts, lines } from './lines.js'
import { linkTo, linkToSwap } from './navigation.js'
import { changeButton } from './roles.js'
import { section } from './section.js'

export async function readOrders() {
  const [waiting, assigned] = await Promise.all([call('/found'), call('/found?assigned=true')])
  return { waiting, assigned }
}

/** Nothing where no backup was restored. */
export function ordersView({ orders, open }) {
  const { waiting = [], assigned = [] } = orders.value ?? {}
  if (waiting.length + assigned.length === 0) return nothing
  return section({
    id: 'orders',
    title: 'Orders that the ledger lacked',
    reading: orders,
    note: `${integer(waiting.length)} wait for a person, ${integer(assigned.length)} assigned`,
    content: lines({
      name: 'person orders',
      caption: 'Orders that the ledger lacked',
      columns: columns(open),
      groups: [
        { key: 'waiting', rows: waiting },
        {
          key: 'assigned',
          rows: assigned,
          head: html`<span>${counted(assigned.length, 'order')} assigned, the last one first</span>`,
        },
      ].filter(({ rows }) => rows.length > 0),
      idOf: ({ id }) => id,
      details: (order) => details(order, open),
    }),
  })
}

/** For the first view. */
export function ordersSummary({ orders }) {
  const count = orders.value?.waiting.length ?? 0
  if (count === 0) return nothing
  return section({
    id: 'orders',
    title: 'Orders that the ledger lacked',
    reading: orders,
    content: html`<ul class="causes">
      <li><a href=${linkTo('person')}>${counted(count, 'order')}</a> <span><b class="alarm">found after a restore</b>: whose they are is not known</span></li>
    </ul>`,
  })
}

function columns(open) {
  return [
    { name: 'id second', heading: 'Id', content: name },
    { name: 'order first', heading: 'Order', content: orderText },
    { name: 'account first-end', heading: 'Account', content: accountOf },
    {
      name: 'address wide-only',
      heading: 'To',
      content: ({ withdrawalAddress }) => html`<code>${shortened(withdrawalAddress ?? none)}</code>`,
    },
    { name: 'reported wide-only', heading: 'Provider reported', content: ({ status }) => status ?? none },
    { name: 'time second-end', heading: 'Created', content: ({ createdAt }) => when(createdAt) },
    { name: 'actions wide-only', heading: 'Decide', content: (order) => buttons(order, open) },
  ]
}

function name({ id, assignedAt }) {
  return assignedAt ? html`<a href=${linkToSwap(id)}><code>${id}</code></a>` : html`<code>${id}</code>`
}

function accountOf({ account, assignedAt }) {
  if (account === null) return none
  return assignedAt ? account : html`${account}?`
}

function buttons(order, open) {
  const button = (kind, label) =>
    changeButton({ role: 'money', label: `${label}…`, name: `${label} ${order.id}`, onClick: () => open({ kind, order }) })
  return order.assignedAt
    ? button('unassignOrder', 'Take back')
    : html`${button('assignOrder', 'Assign')}${button('dismissOrder', 'Dismiss')}`
}

function details(order, open) {
  const {
    account,
    provider,
    status,
    withdrawalAddress,
    refundAddress,
    depositAddress,
    createdAt,
    foundAt,
    assignedAt,
    creates = [],
  } = order
  const code = (text) => text && html`<code>${text}</code>`
  return html`${facts([
    ['Id', name(order)],
    ['Account', account && (assignedAt ? account : html`${account}, by the reference of the order`)],
    ['Provider', provider],
    ['Order', orderText(order)],
    ['To', code(withdrawalAddress)],
    ['Refund to', code(refundAddress)],
    ['Deposit to', code(depositAddress)],
    ['Provider reported', status],
    ['Created', createdAt && when(createdAt)],
    ['Found', when(foundAt)],
    ['Assigned', assignedAt && when(assignedAt)],
    [
      'May be of',
      creates.length > 0 && creates.map(({ account: owner, key, at }) => html`<p>${key} of ${owner}, first sent ${when(at)}</p>`),
    ],
  ])}
  <div class="buttons">${buttons(order, open)}</div>`
}
