/** One swap: what it is, and what happened to it. `id`: of its transaction or of its create. */
import { html, nothing } from 'lit-html'
import { causeText, orderOf, reportedText } from './causes.js'
import { none, orderText, when } from './format.js'
import { facts } from './lines.js'
import { linkTo } from './navigation.js'
import { actions } from './person.js'
import { section } from './section.js'

/** `readAgain`: each reading is in the audit log, so the page does not repeat it by itself. */
export function swapView({ swap, id, open, readAgain }) {
  const { value, problem } = swap
  const isMissing = problem?.status === 404
  return section({
    id: 'swap',
    title: 'Swap',
    reading: isMissing ? { ...swap, isOld: false } : swap,
    note: html`<code>${id}</code>`,
    action: html`<button type="button" @click=${readAgain}>Read again</button>`,
    content: isMissing
      ? html`<p class="empty">The ledger has no swap with this id. It may have been removed, or never begun.</p>`
      : value
        ? html`${needsPerson(value, open)} ${whatItIs(value)}`
        : nothing,
  })
}

function needsPerson(row, open) {
  if (!row.state) return nothing
  return html`<div class="verdict">
    <p><b class="alarm">${causeText(row)}</b>: this needs a person.</p>
    ${actions(row, open)}
  </div>`
}

function whatItIs(row) {
  const { account, provider, status, createdAt, attemptedAt, deadline, changedAt, reportedAt, fetchedAt, settledAt } = row
  const {
    amountIn,
    amountOut,
    rate,
    rateType,
    withdrawalAddress,
    depositAddress,
    refundAddress,
    depositExtraId,
    withdrawalExtraId,
  } = {
    ...row,
    ...orderOf(row),
  }
  const code = (text) => (text ? html`<code>${text}</code>` : undefined)
  return facts([
    ['Order', orderText({ ...row, ...orderOf(row), amountIn })],
    ['Client sees', status ?? (row.intent ? 'the outcome is unknown' : none)],
    ['Account', account && html`<a href=${linkTo('swaps', { query: { account } })}>${account}</a>`],
    ['Provider', provider],
    ['Provider reported', reportedText(row)],
    ['Amount out', amountOut],
    ['Rate', rate && `${rate}${rateType ? `, ${rateType}` : ''}`],
    ['Deposit to', code(depositAddress)],
    ['Deposit memo', code(depositExtraId)],
    ['Payout to', code(withdrawalAddress)],
    ['Payout memo', code(withdrawalExtraId)],
    ['Refund to', code(refundAddress)],
    ['Created', when(createdAt ?? attemptedAt)],
    ['A response may come until', deadline && when(new Date(deadline).toISOString())],
    ['Status changed', changedAt && when(changedAt)],
    ['Provider reported at', reportedAt && when(reportedAt)],
    ['Read by a client', fetchedAt && when(fetchedAt)],
    ['Settled by a person', settledAt && when(settledAt)],
  ])
}
