/** One swap: what it is, and what happened to it. `id`: of its transaction or of its create. */
import { html, nothing } from 'lit-html'
import { causeText, needsPerson, reportedText } from './causes.js'
import { duration, orderText, when } from './format.js'
import { facts } from './lines.js'
import { linkTo } from './navigation.js'
import { actions } from './person.js'
import { changeButton, may } from './roles.js'
import { section } from './section.js'
import { failedText, lastFailure, timelineList } from './timeline.js'

/**
 * `ask` asks its provider; `readAgain` reads the ledger, where there is nothing to ask. Each is in the audit log, so the page repeats neither
 * by itself.
 */
export function swapView({ swap, id, open, isAsking, ask, readAgain }) {
  const { value, problem } = swap
  const isMissing = problem?.status === 404
  return section({
    id: 'swap',
    title: 'Swap',
    reading: isMissing ? { ...swap, isOld: false } : swap,
    note: html`<code>${id}</code>${may('money') ? nothing : '. Addresses are shortened: whole ones need the role money.'}`,
    action:
      value?.state === 'done' && may('operate')
        ? html`<button type="button" aria-disabled=${isAsking ? 'true' : nothing} @click=${() => isAsking || ask()}>${isAsking ? 'Asking the provider…' : 'Ask the provider now'}</button>`
        : html`<button type="button" @click=${readAgain}>Read again</button>`,
    content: isMissing
      ? html`<p class="empty">The ledger has no swap with this id. It may have been removed, or never begun.</p>`
      : value
        ? html`${verdict(value, open)} ${unread(value)} ${providerActions(value, open)} ${whatItIs(value)}<h3>What happened</h3>${timelineList(value.timeline)}`
        : nothing,
  })
}

const unanswered = {
  held_back: 'The provider was not asked: held back',
  contradicted: 'The provider has answered about another swap, which counts for nothing',
}

/** What the provider has answered, in a sentence. */
export function askedText({ outcome, cause }) {
  if (outcome === 'done') return 'The provider has answered.'
  return `${unanswered[outcome] ?? `The provider has not answered: ${outcome}`}${cause ? ` (${cause})` : ''}.`
}

function verdict(row, open) {
  if (!needsPerson(row)) return nothing
  return html`<div class="verdict">
    <p><b class="alarm">${causeText(row)}</b>: this needs a person. ${lastFailure(row.timeline) ?? nothing}</p>
    ${actions(row, open)}
  </div>`
}

/** Why what is below may not be so any more. */
function unread({ provider, status, reads }) {
  const failing = reads?.failing
  if (!failing) return nothing
  const owner =
    failing.owner === 'error'
      ? 'an error'
      : html`${status ?? 'no status'}, with <code>X-Swap-Stale</code>: it is ${duration(reads.ageSeconds * 1_000)} old`
  return html`<div class="verdict">
    <p><b class="alarm">${provider} does not report it</b>: ${failedText(failing)}, the last at ${when(failing.lastAt)}. Its owner gets ${owner}.</p>
  </div>`
}

/** What its provider can do about it now, as its owner may ask for too. */
function providerActions(row, open) {
  if (!row.capabilities?.length) return nothing
  const labels = { refund: 'Refund', continue: 'Continue', 'refund-address': 'Set refund address' }
  return html`<div class="buttons">${row.capabilities.map((action) =>
    changeButton({
      role: 'money',
      label: `${labels[action]}…`,
      name: `${labels[action]} for ${row.id}`,
      onClick: () => open({ kind: 'act', action, transaction: row }),
    }),
  )}</div>`
}

const stateTexts = {
  pending: 'its create may still run',
  unknown: 'the outcome of its create is unknown: 504, then 409 for its key',
  mismatch: 'an error: what the provider reported differs from the order',
  refused: 'an error: its create was refused, and may exist all the same',
  ended: 'nothing was created',
}

function whatItIs(row) {
  const { id, intent, account, provider, state, status, createdAt, attemptedAt, deadline, requestId, keyId } = row
  const { changedAt, reportedAt, fetchedAt, settledAt } = row
  const order = { ...row, ...row.requested }
  const code = (text) => (text ? html`<code>${text}</code>` : undefined)
  return facts([
    ['Order', orderText(order)],
    ['Client sees', status ?? stateTexts[state] ?? 'no status'],
    ['Account', account && html`<a href=${linkTo('swaps', { query: { account } })}>${account}</a>`],
    ['Provider', provider],
    ['Provider reported', needsPerson(row) && reportedText(row)],
    ['For this reason', row.statusReason],
    ['Sent back', row.refundAmount],
    ['Sent back in', code(row.refundHash)],
    ['Page at the provider', code(row.supportUrl)],
    ['Amount out', order.amountOut],
    ['Rate', order.rate && [order.rate, order.rateType].filter(Boolean).join(', ')],
    ['Deposit to', code(order.depositAddress)],
    ['Deposit memo', code(order.depositExtraId)],
    ['Payout to', code(order.withdrawalAddress)],
    ['Payout memo', code(order.withdrawalExtraId)],
    ['Refund to', code(order.refundAddress)],
    ['Transaction', code(id)],
    ['Create', code(intent)],
    ['Request id', code(requestId)],
    ['Key', code(keyId)],
    ['Create was sent', attemptedAt && when(attemptedAt)],
    ['A response may come until', state !== 'done' && deadline && when(new Date(deadline).toISOString())],
    ['Created', createdAt && when(createdAt)],
    ['Status changed', changedAt && when(changedAt)],
    ['Provider last seen', reportedAt && when(reportedAt)],
    ['Read by a get', fetchedAt && when(fetchedAt)],
    ['Settled by a person', settledAt && when(settledAt)],
  ])
}
