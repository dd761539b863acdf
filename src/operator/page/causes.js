/** Why a row needs a person, in words; rows with one cause at one provider are a group. */
import { html } from 'lit-html'
import { none } from './format.js'

const ofUnknown = {
  timed_out: 'no response in time',
  reset: 'the connection broke off',
  failed: 'an error that leaves it open',
  unreadable: 'a response that cannot be read',
  interrupted: 'the gateway ended meanwhile',
  unknown: 'the outcome is unknown',
}
const ofAttention = {
  failed: 'reported as failed',
  held: 'held by the provider',
  lost: 'not found at the provider any more',
  unknown_status: 'a status that the gateway does not know',
}

export function isCreate({ state }) {
  return state !== 'attention' && state !== 'done'
}

/** Of a row that was found: whether a person has to decide. */
export function needsPerson({ state, attention }) {
  return state === 'unknown' || state === 'mismatch' || state === 'refused' || Boolean(attention)
}

/** The id that a person knows it by: of a create that of the gateway, of a transaction that of clients. */
export function idOf(row) {
  return isCreate(row) ? row.intent : row.id
}

export function startedAt(row) {
  return isCreate(row) ? row.attemptedAt : row.createdAt
}

export function orderOf(row) {
  return row.requested ?? row
}

/** A create whose cause soon changes by itself, or which is done then. */
export function mayStillRun(row) {
  return ['pending', 'running'].includes(reasonOf(row))
}

/** One word for a link, and for the settling of many. */
export function reasonOf({ state, reason, reported, attention }) {
  if (state === 'attention' || state === 'done') return attention
  if (state !== 'mismatch') return reason ?? state
  return reported ? reported.fields.join(', ') : 'refused'
}

export function causeText(row) {
  const { state, attention } = row
  const reason = reasonOf(row)
  if (attention) return ofAttention[attention] ?? attention
  if (state === 'mismatch') return reason === 'refused' ? 'refused, although it exists' : `differs in ${reason}`
  if (mayStillRun(row)) return 'may still run'
  return ofUnknown[reason] ?? reason
}

/** Groups by kind, provider and cause; that with the oldest row first. */
export function groupsOf(rows) {
  const groups = Map.groupBy(rows, (row) => JSON.stringify([isCreate(row), row.provider, causeText(row)]))
  return [...groups].map(([key, ofGroup]) => {
    const [first] = ofGroup
    const oldest = ofGroup.map(startedAt).toSorted()[0]
    const kind = isCreate(first) ? 'create' : 'transaction'
    return { key, kind, provider: first.provider, reason: reasonOf(first), cause: causeText(first), oldest, rows: ofGroup }
  })
}

/** What the provider said of it. */
export function reportedText({ attention, status, reported, candidates = [] }) {
  if (attention) return html`<b class="alarm">${attention}</b>, client sees ${status ?? 'no status'}`
  if (reported)
    return html`<code>${reported.id}</code>, ${reported.fields.includes('refused') ? 'although it was refused' : `differs in ${reported.fields.join(', ')}`}`
  return candidates.length > 0 ? html`may be <code>${candidates.join(', ')}</code>` : none
}
