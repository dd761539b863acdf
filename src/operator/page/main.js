/** The operator's page: signs in, shows the view that its URL names, and keeps it fresh. */
import { html, nothing, render } from 'lit-html'
import { accountsView, usagePeriods } from './accounts.js'
import { call, callPage, followEvents, setToken } from './api.js'
import { auditDays, auditView, recentChanges } from './audit.js'
import { ChangeDialog } from './dialog.js'
import { firstSteps } from './first-steps.js'
import { counted, duration, integer, isZoneUtc, showTimesInUtc, time } from './format.js'
import { forgetToken, isPhone, keepToken, keptToken } from './kept-token.js'
import { followToggles } from './lines.js'
import { linkTo, linkToSwap, placeOf } from './navigation.js'
import { ordersSummary, ordersView, readOrders } from './orders.js'
import { personSummary, personView } from './person.js'
import { providersSection } from './providers.js'
import { isUnanswered, Readings } from './readings.js'
import { rolesText, setRoles } from './roles.js'
import { takeToken } from './start-token.js'
import { askedText, swapView } from './swap.js'
import { pageSize, swapsView } from './swaps.js'
import { differences } from './watch.js'
import { readDeliveries, webhooksView } from './webhooks.js'

const eventDelayMs = 150
const firstUnresolved = '/unresolved'
const root = document.getElementById('page')
const notice = document.getElementById('notice')

let place = placeOf(location.hash)
/** Of the page of unresolved creates that is shown. */
let unresolvedPath = firstUnresolved
let isSignedIn = false
let isBusy = false
let isConnected = false
let isAsking = false
let isInUtc = isZoneUtc()
let signInError
let session = new AbortController()
let eventTimer
let eventNames = new Set()

const readings = new Readings(
  {
    health: { read: () => call('/health'), everyMs: 5_000 },
    firstSteps: { read: () => call('/first-steps'), everyMs: 5_000 },
    token: { read: () => call('/token'), everyMs: 60_000 },
    report: { read: () => call('/providers'), everyMs: 5_000 },
    unresolved: { read: () => callPage(unresolvedPath), everyMs: 30_000 },
    audit: { read: () => call(`/audit?${new URLSearchParams({ since: place.query.since ?? auditDays[0] })}`), everyMs: 60_000 },
    keys: { read: () => call('/keys'), everyMs: 60_000 },
    accounts: { read: () => call('/accounts'), everyMs: 60_000 },
    usage: { read: () => call(`/usage?${new URLSearchParams({ since: place.query.since ?? usagePeriods[0] })}`), everyMs: 60_000 },
    webhooks: { read: () => call('/webhooks'), everyMs: 60_000 },
    deliveries: { read: () => readDeliveries(place), everyMs: 15_000 },
    orders: { read: readOrders, everyMs: 60_000 },
    // The audit log has each of these.
    found: { read: findSwaps, everyMs: 600_000 },
    swap: { read: readSwap, everyMs: 600_000 },
  },
  { onRead, onChange: update, onLost: signOut },
)
/** What each view shows, beside health, the token's roles, providers and what needs a person, of which the header has the number. */
const always = ['health', 'token', 'report', 'unresolved']
const shown = {
  overview: ['firstSteps', 'audit', 'orders'],
  person: ['orders'],
  swaps: ['accounts', 'found'],
  swap: ['swap'],
  accounts: ['accounts', 'usage', 'keys'],
  webhooks: ['webhooks', 'deliveries', 'accounts'],
  audit: ['audit'],
}
/** What is read again after an event of this name. */
const readAfter = { provider: ['report'], overrides: ['report', 'audit'], unresolved: ['report', 'unresolved', 'audit'] }
const titles = {
  overview: 'Overview',
  person: 'Needs a person',
  swaps: 'Swaps',
  accounts: 'Accounts and keys',
  webhooks: 'Webhooks',
  audit: 'Audit log',
}

const dialog = new ChangeDialog({
  onDone: (text) => {
    announce(text)
    readings.read([...always, ...shown[place.view]])
  },
  onLost: signOut,
})

function update() {
  render(isSignedIn ? page() : signInForm(), root)
  if (isSignedIn) dialog.refresh(known('report'))
  document.title = `${countText()}swapgate: operator${place.view === 'overview' || !isSignedIn ? '' : `: ${titles[place.view] ?? place.id}`}`
}

function announce(text) {
  notice.textContent = text
}

/** A reading of the ledger. While the ledger is away, or that is not known, it is old whatever its age; why stands above everything. */
function known(name) {
  const reading = readings.get(name)
  return isLedgerAway() ? { ...reading, isOld: true, problem: undefined } : reading
}

function knownOf(names) {
  return Object.fromEntries(names.map((name) => [name, known(name)]))
}

function isLedgerAway() {
  const { value, isOld } = readings.get('health')
  return isOld || value?.ledger === 'unavailable'
}

/** How many need a person, for the title and the link; a question mark where that is not known. */
function countText() {
  const { value, isOld } = known('unresolved')
  if (!isSignedIn || !value) return ''
  const { rows, next } = value
  const count = rows.length > 0 ? `${integer(rows.length)}${next ? '+' : ''}` : ''
  if (isOld) return `(${count}?) `
  return count === '' ? '' : `(${count}) `
}

const keptOnPhone = html`This tab keeps it until you close it, or an hour has passed without use; with the role <code>money</code> it may ask again after a reload.`

function signInForm() {
  const submit = (event) => {
    event.preventDefault()
    if (!isBusy) signIn(new FormData(event.target).get('token').trim())
  }
  return html`<main class="sign-in">
    <h1>swapgate</h1>
    <form @submit=${submit} aria-busy=${isBusy ? 'true' : nothing}>
      <label>Token <input name="token" type="password" required autofocus autocomplete="off" spellcheck="false" aria-describedby="token-help" /></label>
      <p id="token-help">One of <code>admin.tokens</code>. ${isPhone ? keptOnPhone : 'This tab keeps it in memory, until you close or reload it.'}</p>
      <div role="alert">${signInError ? html`<p class="error">${signInError}</p>` : nothing}</div>
      <button type="submit" class="primary">Sign in</button>
    </form>
  </main>`
}

async function signIn(token) {
  session.abort()
  session = new AbortController()
  const { signal } = session
  setToken(token)
  isBusy = true
  signInError = undefined
  update()
  try {
    const whose = await call('/token')
    if (signal.aborted) return
    setRoles(whose)
    if (whose.mayKeep) keepToken(token)
    else forgetToken()
  } catch (error) {
    if (!signal.aborted) signOut(error)
    return
  }
  isBusy = false
  isSignedIn = true
  isConnected = false
  unresolvedPath = firstUnresolved
  show()
  root.querySelector('h1').focus()
  followEvents({ signal, onEvent, onState })
}

/** With the token of the URL, whoever was signed in before. */
function signInAnew(token) {
  place = placeOf('')
  if (isSignedIn) signOut()
  signIn(token)
}

/** Everything that was shown goes with the token. */
function signOut(error) {
  session.abort()
  setToken('')
  if (!isUnanswered(error)) forgetToken()
  setRoles()
  readings.stop()
  dialog.close()
  announce('')
  isSignedIn = false
  isBusy = false
  isAsking = false
  signInError = error?.message
  update()
  if (!error) root.querySelector('input')?.focus()
}

function show() {
  readings.show([...always, ...shown[place.view]])
  update()
}

function page() {
  return html`<header>
      <div class="bar">
        <h1 tabindex="-1"><a href=${linkTo('overview')}>swapgate</a></h1>
        <nav aria-label="Views">${Object.entries(titles).map(viewLink)}</nav>
        <form role="search" @submit=${search}>
          <input type="search" class="find" name="q" aria-label="Find swaps" placeholder="Any id, address or account" autocomplete="off" spellcheck="false" required />
          <button type="submit">Find</button>
        </form>
        ${
          isZoneUtc()
            ? nothing
            : html`<button type="button" aria-pressed=${isInUtc ? 'true' : 'false'} aria-label="Times in UTC" @click=${toggleUtc}>UTC</button>`
        }
        <button type="button" @click=${() => signOut()}>Sign out</button>
      </div>
      ${away()}
      ${rolesText()}
      <p class="status">${freshness()}</p>
    </header>
    <main>${view()}</main>`
}

function viewLink([name, title]) {
  const count = name === 'person' ? countText().trim().replace(/[()]/g, '') : ''
  const isCurrent = name === place.view || (name === 'swaps' && place.view === 'swap')
  return html`<a href=${linkTo(name)} aria-current=${isCurrent ? 'page' : nothing}>${title}${count === '' ? nothing : html` <b class="count">${count}</b>`}</a>`
}

function view() {
  const { id, query } = place
  const open = (wanted) => dialog.open(wanted, known('report'))
  const [report, unresolved, health] = [known('report'), known('unresolved'), readings.get('health')]
  switch (place.view) {
    case 'person':
      return html`${personView({ unresolved, query, first: firstUnresolved, turn, open })} ${ordersView({ orders: known('orders'), open })}`
    case 'swaps':
      return swapsView({ found: known('found'), report, accounts: known('accounts'), query })
    case 'swap':
      return swapView({ swap: known('swap'), id, open, isAsking, ask: askProvider, readAgain: () => readings.read(['swap']) })
    case 'accounts':
      return accountsView({ accounts: known('accounts'), usage: known('usage'), keys: known('keys'), query, open })
    case 'webhooks':
      return webhooksView({ ...knownOf(shown.webhooks), id, query, open })
    case 'audit':
      return auditView({ audit: known('audit'), query })
    default:
      return html`${upcoming(health.value)} ${firstSteps({ steps: known('firstSteps').value?.steps, open })} ${personSummary({ unresolved })} ${ordersSummary({ orders: known('orders') })} ${providersSection({ report, health, open })} ${recentChanges({ audit: known('audit') })}`
  }
}

/** What is away, above everything else. */
function away() {
  const { value, at, problem, isOld, ageMs } = readings.get('health')
  const since = at === undefined ? '' : `, for ${duration(ageMs)}`
  if (isOld)
    return html`<p class="away" role="alert">${problem?.message ?? 'The gateway does not answer.'} Nothing below is known to be so now${since}.</p>`
  return html`${
    value?.ledger === 'unavailable'
      ? html`<p class="away" role="alert">The ledger does not answer: creates are refused, and nothing can be changed here. What is below is what was read before.</p>`
      : nothing
  }${redisAway(value?.redis)}`
}

/** What changes soon about assets of the table. */
function upcoming(health) {
  return (health?.upcoming ?? []).map((text) => html`<p class="old">${text}</p>`)
}

function redisAway(redis) {
  if (!redis || redis.state === 'available') return nothing
  if (redis.state === 'recovering')
    return html`<p class="away" role="alert">Redis answers again. For some seconds limits are counted here and there.</p>`
  return html`<p class="away" role="alert">Redis does not answer this gateway since ${time(redis.since)}: each gateway counts limits and budgets by itself, its share of all.</p>`
}

function freshness() {
  const [report, health] = [known('report'), readings.get('health')]
  if (!report.value) return report.isOld ? '' : 'Loading…'
  const { replicas } = report.value
  if (report.isOld) return `Read ${duration(report.ageMs)} ago, at ${time(report.at)}`
  const running = replicas === 0 ? 'No gateway has written figures' : counted(replicas, 'replica')
  const stores = health.value
    ? `ledger answers, ${health.value.redis === null ? 'no Redis' : `Redis ${health.value.redis.state === 'available' ? 'answers' : 'away'}`}`
    : ''
  return `${running}, ${isConnected ? 'live' : 'reconnecting to the events'}, ${stores}, ${time(report.at)}`
}

function toggleUtc() {
  isInUtc = !isInUtc
  showTimesInUtc(isInUtc)
  update()
}

function search(event) {
  event.preventDefault()
  const q = new FormData(event.target).get('q').trim()
  if (q === '') return
  location.hash = linkTo('swaps', { query: { q } })
  event.target.reset()
}

/** By any id, an address or an account (`q`), or by filters. */
async function findSwaps() {
  const { q, after, ...query } = place.query
  if (q === undefined) return call(`/transactions?${new URLSearchParams({ ...query, size: pageSize })}`)
  const { rows, next } = await callPage(`/find?${new URLSearchParams({ text: q, size: pageSize, ...(after && { after }) })}`)
  return { data: rows.data, after: next && new URLSearchParams(next.slice(next.indexOf('?'))).get('after') }
}

/** Who looks for an id wants to see the swap. */
function openOnlyOne({ data: [only, ...others], after }) {
  if (place.query.q === undefined || !only || others.length > 0 || after || only.matched.includes('account')) return
  location.replace(linkToSwap(only.id ?? only.intent))
}

/** A transaction, or a create that has none yet, with what happened to it. */
async function readSwap() {
  const { swap, ...others } = await call(`/transactions/${encodeURIComponent(place.id)}/timeline`)
  if (swap.state === 'done') return { ...swap, ...others }
  const create = readings.get('unresolved').value?.rows.find(({ intent }) => intent === swap.intent)
  return { ...swap, ...create, ...others }
}

/** Its provider, about the swap that is shown. */
async function askProvider() {
  const { id } = place
  const { signal } = session
  isAsking = true
  update()
  try {
    const { asked, swap, ...others } = await call(`/transactions/${encodeURIComponent(id)}/read`, { method: 'POST' })
    // Whoever is signed in by now may see less.
    if (signal.aborted) return
    if (place.id === id) readings.put('swap', { ...swap, ...others })
    announce(askedText(asked))
  } catch (error) {
    if (signal.aborted) return
    if (error.status === 401) return signOut(error)
    announce(error.message)
  } finally {
    if (!signal.aborted) {
      isAsking = false
      update()
    }
  }
}

function turn(path) {
  unresolvedPath = path
  return readings.read(['unresolved'])
}

function onRead(name, value, before) {
  if (name === 'token') setRoles(value)
  if (name === 'token' && !value.mayKeep) forgetToken()
  if (name === 'found') openOnlyOne(value)
  const text = differences({ [name]: before }, { [name]: value })
  if (text !== '') announce(text)
  // All creates of this page are settled.
  if (name === 'unresolved' && value.rows.length === 0 && value.path !== firstUnresolved) turn(firstUnresolved)
}

function onEvent(event) {
  clearTimeout(eventTimer)
  const { signal } = session
  eventNames = new Set([...eventNames, ...readAfter[event]])
  eventTimer = setTimeout(() => {
    const names = [...eventNames]
    eventNames = new Set()
    if (!signal.aborted) readings.read(names)
  }, eventDelayMs)
}

function onState(connected, error) {
  // 404: no token is valid any more, so that there is no API.
  if (error?.status === 401 || error?.status === 404) return signOut(error)
  isConnected = connected
  update()
}

function onNavigation() {
  const token = takeToken()
  if (token !== undefined) return signInAnew(token)
  const before = place
  place = placeOf(location.hash)
  // What was read for another place is not for this one.
  const isMoved = before.view !== place.view || before.id !== place.id
  for (const name of ['found', 'swap', 'deliveries']) readings.forget(name)
  if (before.query.since !== place.query.since) for (const name of ['audit', 'usage']) readings.forget(name)
  if (!isSignedIn) return
  if (isMoved) readings.expire(shown[place.view])
  show()
  if (!isMoved) return
  scrollTo(0, 0)
  root.querySelector('h2')?.focus()
}

followToggles(update)
addEventListener('hashchange', onNavigation)
const [startToken, kept] = [takeToken(), keptToken()]
if (startToken !== undefined) signInAnew(startToken)
else if (kept !== undefined) signIn(kept)
else update()
