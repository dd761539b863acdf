/** The operator's page: signs in, keeps the figures fresh, and renders them. */
import { html, nothing, render } from 'lit-html'
import { call, callPage, followEvents, setToken } from './api.js'
import { ChangeDialog } from './dialog.js'
import { counted, time } from './format.js'
import { auditSection, pageSize, transactionsSection, unresolvedSection } from './ledger.js'
import { providersSection } from './providers.js'
import { differences } from './watch.js'

const refreshMs = 5_000
const eventDelayMs = 150
const firstUnresolved = '/unresolved'
const readers = {
  report: () => call('/providers'),
  unresolved: () => callPage(unresolvedPath),
  audit: () => call('/audit?since=7d'),
  accounts: () => call('/accounts'),
}
/** What is loaded again after an event of this name. */
const readAfter = {
  provider: ['report'],
  overrides: ['report', 'audit'],
  unresolved: ['report', 'unresolved', 'audit'],
}
/** Polls between two readings of everything. */
const pollsPerRefresh = 12
const root = document.getElementById('page')
const notice = document.getElementById('notice')
const signedOut = { isSignedIn: false, isBusy: false, error: undefined }

let state = signedOut
let session = new AbortController()
let eventTimer
let eventNames = new Set()
/** Of the page of unresolved creates that is shown. */
let unresolvedPath = firstUnresolved

const dialog = new ChangeDialog({
  onDone: (text) => {
    announce(text)
    refresh()
  },
  onLost: signOut,
})

function update(changes) {
  state = { ...state, ...changes }
  render(state.isSignedIn ? dashboard() : signInForm(), root)
  if (state.report) dialog.refresh(state.report)
  const { rows = [], next } = state.unresolved ?? {}
  document.title = `${rows.length > 0 ? `(${rows.length}${next ? '+' : ''}) ` : ''}swapgate: operator`
}

function announce(text) {
  notice.textContent = text
}

function signInForm() {
  const submit = (event) => {
    event.preventDefault()
    if (!state.isBusy) signIn(new FormData(event.target).get('token').trim())
  }
  return html`<main class="sign-in">
    <h1>swapgate</h1>
    <form @submit=${submit} aria-busy=${state.isBusy ? 'true' : nothing}>
      <label>Token <input name="token" type="password" required autofocus autocomplete="off" spellcheck="false" aria-describedby="token-help" /></label>
      <p id="token-help">One of <code>admin.tokens</code>. This tab keeps it in memory, until you close or reload it.</p>
      <div role="alert">${state.error ? html`<p class="error">${state.error}</p>` : nothing}</div>
      <button type="submit" class="primary">Sign in</button>
    </form>
  </main>`
}

async function signIn(token) {
  setToken(token)
  update({ isBusy: true, error: undefined })
  try {
    await call('/providers')
  } catch (error) {
    return signOut(error)
  }
  session = new AbortController()
  unresolvedPath = firstUnresolved
  update({ ...signedOut, isSignedIn: true, isConnected: false })
  root.querySelector('h1').focus()
  followEvents({ signal: session.signal, onEvent, onState })
  poll(session.signal)
  refresh()
}

/** Everything that was shown goes with the token. */
function signOut(error) {
  session.abort()
  setToken('')
  dialog.close()
  announce('')
  state = signedOut
  update({ error: error?.message })
  if (!error) root.querySelector('input')?.focus()
}

function dashboard() {
  const { report } = state
  const open = (wanted) => dialog.open(wanted, state.report)
  return html`<header>
      <h1 tabindex="-1">swapgate</h1>
      <p class=${state.problem ? 'error' : 'fresh'}>${freshness()}</p>
      <button type="button" @click=${() => signOut()}>Sign out</button>
    </header>
    <main>
      ${providersSection({ report, open })} ${unresolvedSection({ unresolved: state.unresolved, open, first: firstUnresolved, turn })}
      ${auditSection({ audit: state.audit })}
      ${transactionsSection({ report, accounts: state.accounts, search: state.search, find })}
    </main>`
}

function freshness() {
  const { report, fetchedAt, problem, isConnected } = state
  if (!report) return problem ?? 'Loading…'
  if (problem) return `${problem} The figures are of ${time(fetchedAt)}.`
  const replicas = report.replicas === 0 ? 'no gateway is running' : counted(report.replicas, 'replica')
  return `${replicas}, ${isConnected ? 'live' : 'reconnecting to the events'}, ${time(fetchedAt)}`
}

async function poll(signal) {
  for (let polls = 1; ; polls++) {
    await new Promise((resolve) => setTimeout(resolve, refreshMs))
    if (signal.aborted) return
    if (polls % pollsPerRefresh === 0) await refresh()
    else await load(readAfter.provider)
  }
}

function refresh() {
  return load(Object.keys(readers))
}

function turn(path) {
  unresolvedPath = path
  return load(['unresolved'])
}

/** Reads what is named. A response that comes after signing out is dropped, and one that is older than another too. */
const latest = new Map()
let calls = 0
async function load(names) {
  const { signal } = session
  const number = ++calls
  try {
    const read = await Promise.all(names.map(async (name) => [name, await readers[name]()]))
    if (signal.aborted) return
    const fresh = Object.fromEntries(read.filter(([name]) => (latest.get(name) ?? 0) < number))
    for (const name of Object.keys(fresh)) latest.set(name, number)
    const text = differences(state, fresh)
    update({ ...fresh, ...(fresh.report && { fetchedAt: new Date().toISOString() }), problem: undefined })
    if (text !== '') announce(text)
    // All creates of this page are settled.
    const { rows, path } = fresh.unresolved ?? {}
    if (rows?.length === 0 && path !== firstUnresolved) await turn(firstUnresolved)
  } catch (error) {
    if (signal.aborted) return
    if (error.status === 401) return signOut(error)
    update({ problem: error.message })
  }
}

function onEvent(event) {
  clearTimeout(eventTimer)
  const { signal } = session
  eventNames = new Set([...eventNames, ...readAfter[event]])
  eventTimer = setTimeout(() => {
    const names = [...eventNames]
    eventNames = new Set()
    if (!signal.aborted) load(names)
  }, eventDelayMs)
}

function onState(isConnected, error) {
  if (error?.status === 401) return signOut(error)
  update({ isConnected })
}

async function find(query, page) {
  const { signal } = session
  try {
    const { data, count } = await call(`/transactions?${new URLSearchParams({ ...query, page, size: pageSize })}`)
    if (!signal.aborted) update({ search: { data, count, query, page } })
  } catch (error) {
    if (signal.aborted) return
    if (error.status === 401) return signOut(error)
    update({ search: { error: error.message } })
  }
}

update({})
