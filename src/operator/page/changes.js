/** The changes that buttons offer: explanation, request, and announcement after success. */
import { html, nothing } from 'lit-html'
import { scopes } from './accounts.js'
import { call } from './api.js'
import { orderOf } from './causes.js'
import { counted, integer, list, orderText, percent, time, when } from './format.js'
import { openCount } from './providers.js'
import { may } from './roles.js'
import { answerText } from './webhooks.js'

const everywhere =
  'This process follows at once, the others within 5 s. The configuration file is not changed; your name goes into the audit log.'

/**
 * `title`, `label` of the button, `text` as paragraphs, `fields`, `request(form, isForced)` or `run(onProgress)`, and `done(answer)`: what
 * is then announced. `next(answer, form)`: the dialog that follows; `isDone`: it can only be closed. `figuresOf`: `report`, if it names counts.
 */
export function changeOf(dialog, report) {
  return makers[dialog.kind](dialog, report)
}

const makers = {
  state({ name, state }, { providers, strategy }) {
    const provider = providers.find((one) => one.name === name)
    const [label, text] = stateTexts[state](provider, takers(providers, strategy, name))
    return {
      title: `${label} ${name}`,
      label: `${label} ${name}`,
      figuresOf: 'report',
      text: [...text, everywhere],
      request: (_, force) => [`/providers/${encodeURIComponent(name)}`, { method: 'PATCH', body: { state, force } }],
      done: () => `${name} is ${state}.`,
    }
  },
  weights(_, { providers }) {
    const routed = providers.filter(({ isRouted }) => isRouted)
    return {
      figuresOf: 'report',
      title: 'Change the weights',
      label: 'Change the weights',
      text: [
        'New swaps are shared by these weights among the active providers; 0 is none. Open transactions stay where they are.',
        everywhere,
      ],
      fields: weightFields(routed),
      request: (form, force) => {
        const weights = Object.fromEntries(routed.map(({ name }) => [name, Number(form.get(`weight ${name}`))]))
        return ['/routing', { method: 'PATCH', body: { weights, force } }]
      },
      done: () => 'The weights are changed.',
    }
  },
  reset: ({ key }) => ({
    title: `Back to the file: ${key}`,
    label: 'Back to the file',
    text: [
      `The override of ${key} ends: what the configuration file says is in force again.`,
      ...(key.startsWith('state:') ? ['Assets of the provider that are suspended are offered again.'] : []),
      everywhere,
    ],
    request: (_, force) => [`/overrides/${encodeURIComponent(key.replace(/^state:/, ''))}?force=${force}`, { method: 'DELETE' }],
    done: () => `The file counts again for ${key}.`,
  }),
  resume: ({ name }, { providers }) => ({
    title: `Offer the suspended assets of ${name} again`,
    label: 'Offer again',
    text: [
      `New swaps of ${list(suspendedAt(providers, name))} go to ${name} again, at every provider with its account. While the cause is still there, the next three creates are lost as well.`,
      `An override of the state of ${name} ends too.`,
      everywhere,
    ],
    request: (_, force) => [`/overrides/${encodeURIComponent(name)}?force=${force}`, { method: 'DELETE' }],
    done: () => `The assets of ${name} are offered again.`,
  }),
  bind: ({ create }) => ({
    ...settle(create),
    title: 'Bind the create to a transaction',
    label: 'Bind',
    text: [
      about(create),
      `The transaction is read at ${create.provider} first, and refused if it differs from the order. Then it belongs to the client who sent the create, with its Idempotency-Key.`,
    ],
    fields: html`<label>Id of the transaction at ${create.provider} <input name="bind" required maxlength="300" autocomplete="off" .value=${create.reported?.id ?? ''} /></label>
      ${despiteField}`,
    request: (form, force) => [
      unresolvedPath(create),
      { method: 'POST', body: { bind: form.get('bind').trim(), ...despiteOf(form), ...(force && { force }) } },
    ],
  }),
  none: ({ create }) => ({
    ...settle(create),
    title: 'Nothing was created',
    label: 'Nothing was created',
    text: [
      about(create),
      `Only if ${create.provider} has confirmed that it has no such transaction: the create is deleted, and its Idempotency-Key can be used again. If there is one after all, the client may swap twice.`,
    ],
    request: () => [unresolvedPath(create), { method: 'POST', body: { none: true } }],
  }),
  settle: ({ transaction: { id, attention, status } }) => ({
    title: `Settle ${id}`,
    label: 'Settle',
    text: [
      `The provider reports ${id} as ${attention}; its client sees ${status ?? 'no status'}. Choose only what the provider or the blockchain has proved.`,
      'From now on the client gets the status that you choose, also while the provider still reports this. success and refunded are final; after overdue the provider can still report one of these.',
      'Your name and the note go into the audit log.',
    ],
    fields: html`<label>Outcome
        <select name="status" required><option value="">choose</option>${['refunded', 'success', 'overdue'].map((one) => html`<option value=${one}>${one}</option>`)}</select></label>
      <label>Note <input name="note" required maxlength="500" autocomplete="off" /></label>`,
    request: (form) => [
      `/transactions/${encodeURIComponent(id)}`,
      { method: 'POST', body: { status: form.get('status'), note: form.get('note').trim() } },
    ],
    done: ({ status: settled }) => `The transaction ${id} is ${settled}.`,
  }),
  assignOrder: ({ order: { id, account, withdrawalAddress, creates, ...order } }) => ({
    title: `Assign ${id}`,
    label: 'Assign',
    text: [
      `${orderText(order)}${withdrawalAddress ? `, to ${withdrawalAddress}` : ''}. It becomes a swap of the account below, which sees it from then on.`,
      account
        ? `The reference of the order names ${account}.`
        : 'Nothing names the account: choose only the one whose own records have this id, or whose create of this time the log of the gateways has.',
      'The key is the one that its client names: its next create with that key returns the order. Creates that waited for the order are new ones from then on.',
      'Your name and the note go into the audit log.',
    ],
    fields: html`<label>Account <input name="account" required maxlength="64" autocomplete="off" spellcheck="false" .value=${account ?? ''} /></label>
      <label>Idempotency-Key of its create <select name="key" required>
        <option value="">choose</option><option value="none">none is known</option>
        ${creates.map(({ account: owner, key, at }) => html`<option value=${`key ${key}`}>${key} of ${owner}, first sent at ${at}</option>`)}
        <option value="other">another one</option>
      </select></label>
      <label>Another one <input name="otherKey" maxlength="255" autocomplete="off" spellcheck="false" /></label>
      <label>Withdrawal address as the client names it <input name="withdrawalAddress" maxlength="300" autocomplete="off" spellcheck="false" /></label>
      <label><input type="checkbox" name="unconfirmed" /> The client cannot be asked: what the provider says counts</label>
      ${despiteField}
      ${noteField}`,
    request: (form) =>
      decide(id, {
        assign: true,
        account: form.get('account').trim(),
        key: chosenKey(form),
        ...(form.get('withdrawalAddress').trim() !== '' && { withdrawalAddress: form.get('withdrawalAddress').trim() }),
        ...(form.get('unconfirmed') && { unconfirmed: true }),
        ...despiteOf(form),
        note: form.get('note').trim(),
      }),
    done: ({ account: owner, notes }) => [`${id} is now a swap of the account ${owner}.`, ...notes].join(' '),
  }),
  dismissOrder: ({ order: { id, provider } }) => ({
    title: `Dismiss ${id}`,
    label: 'It is no swap of a client',
    text: [
      `Only if no client of yours made it: another program with the same key at ${provider} did. It then waits no longer, and nobody reads it here.`,
      'Your name and the note go into the audit log.',
    ],
    fields: noteField,
    request: (form) => decide(id, { dismiss: true, note: form.get('note').trim() }),
    done: ({ notes }) => [`${id} is dismissed: it is no swap of a client.`, ...notes].join(' '),
  }),
  unassignOrder: ({ order: { id, account } }) => ({
    title: `Take ${id} back from ${account}`,
    label: 'Take it back',
    text: [
      `${account} does not see it any more, and it waits for a person again. ${account} may have seen it: say so there.`,
      'An Idempotency-Key that returned it waits too. It is refused where an action was asked for it, or a person has recorded its outcome.',
      'Your name and the note go into the audit log.',
    ],
    fields: noteField,
    request: (form) => decide(id, { unassign: true, note: form.get('note').trim() }),
    done: ({ notes }) => [`${id} waits for a person again.`, ...notes].join(' '),
  }),
  act: ({ action, transaction: { id, refundAddress } }) => ({
    ...actionTexts[action](id, refundAddress),
    fields: html`${
      action !== 'continue' && !refundAddress
        ? html`<label>Address <input name="address" required maxlength="256" autocomplete="off" spellcheck="false" /></label>
      <label>Memo or tag <input name="extraId" maxlength="256" autocomplete="off" spellcheck="false" /></label>`
        : ''
    }
      <label>Note <input name="note" required maxlength="500" autocomplete="off" /></label>`,
    request: (form, force) => {
      const [address, extraId] = ['address', 'extraId'].map((name) => form.get(name)?.trim() ?? '')
      const to = { ...(address !== '' && { address }), ...(extraId !== '' && { extraId }) }
      const body = { ...to, note: form.get('note').trim(), ...(force && { force }) }
      return [`/transactions/${encodeURIComponent(id)}/${action}`, { method: 'POST', body }]
    },
    done: ({ status, isRepeated }) =>
      `${isRepeated ? 'It was done before, and nothing was sent' : 'The provider has taken it'}: its client sees ${status ?? 'no status'} for ${id}.`,
  }),
  limits: ({ account: { name, limits } }) => ({
    title: name === undefined ? 'New account' : `Limits of ${name}`,
    label: name === undefined ? 'Make the account' : 'Change the limits',
    text: [
      'They are for all its keys together, in place of those of the configuration: requests in a window, and streams at a time. Empty: as configured.',
      'Every gateway follows within 5 s. What was admitted in a window counts on.',
      'Your name goes into the audit log.',
    ],
    fields: html`${name === undefined ? accountField() : nothing}
      ${limitNames.map(
        ([limit, label]) => html`<label>${label}
          <input name=${limit} type="number" min="1" max="1000000" step="1" placeholder="as configured" .value=${limits[limit] ?? ''} /></label>`,
      )}`,
    request: (form) => {
      const wanted = limitNames.map(([limit]) => [limit, form.get(limit) === '' ? null : Number(form.get(limit))])
      // What another person has changed meanwhile stays, unless it is changed here.
      const changed = Object.fromEntries(wanted.filter(([limit, value]) => value !== (limits[limit] ?? null)))
      return name === undefined
        ? ['/accounts', { method: 'POST', body: { name: form.get('name').trim(), limits: changed } }]
        : [`/accounts/${encodeURIComponent(name)}`, { method: 'PATCH', body: { limits: changed } }]
    },
    done: ({ name: account }) =>
      name === undefined ? `The account ${account} is there.` : `The limits of ${account} are changed.`,
  }),
  newKey: ({ name }) => ({
    title: name === undefined ? 'New key' : `New key of ${name}`,
    label: 'Make the key',
    text: [
      'The key is shown once. The ledger keeps only its digest and its last four characters.',
      ...(name === undefined ? ['An account is made if its name is new.'] : []),
      ...(may('money') ? [] : ['Your token lacks the role money: it issues only keys that quote.']),
      ...(may('operate') ? [] : ['Your token lacks the role operate: it issues no key that only quotes.']),
      'Your name goes into the audit log.',
    ],
    fields: html`${name === undefined ? accountField() : html`<input type="hidden" name="name" .value=${name} />`}
      <label>Ends after <input name="expires" placeholder="90d; empty: never" autocomplete="off" /></label>
      <label>Only from <input name="networks" placeholder="203.0.113.0/24, …; empty: everywhere" autocomplete="off" spellcheck="false" /></label>
      <fieldset class="wide"><legend>It may</legend>${scopes.map(scopeBox)}</fieldset>`,
    request: (form) => {
      const [expires, networks] = ['expires', 'networks'].map((field) => form.get(field).trim())
      const scope = scopes.map(([word]) => word).filter((word) => form.get(word) === 'true')
      const body = {
        name: form.get('name').trim(),
        ...(scope.length < scopes.length && { scope }),
        ...(networks !== '' && { networks: networks.split(',').map((network) => network.trim()) }),
        ...(expires !== '' && { expires }),
      }
      return ['/keys', { method: 'POST', body }]
    },
    done: ({ name: account }) => `A key of ${account} is made.`,
    next: (issued) => ({ kind: 'issuedKey', issued }),
  }),
  rotateKey: ({ key: { id, name } }) => ({
    title: `Rotate a key of ${name}`,
    label: 'Make another key',
    text: [
      `${name} gets another key with the same scope and networks, which is shown once. The key ${id} ends after the overlap: by then its client must use the new one.`,
      'Your name goes into the audit log.',
    ],
    fields: html`<label>Overlap <input name="overlap" placeholder="24h; 0: ends it now" autocomplete="off" /></label>`,
    request: (form) => {
      const overlap = form.get('overlap').trim()
      return [`/keys/${encodeURIComponent(id)}/rotate`, { method: 'POST', body: { ...(overlap !== '' && { overlap }) } }]
    },
    done: ({ oldExpiresAt }) => `${name} has another key; the key ${id} ends at ${time(oldExpiresAt)}.`,
    next: (issued) => ({ kind: 'issuedKey', issued }),
  }),
  issuedKey: ({ issued: { id, name, key, expiresAt } }) => ({
    title: `The new key of ${name}`,
    isDone: true,
    text: ['Copy it now: when this is closed, nobody can read it again.'],
    fields: html`<label class="wide">Key <input class="key" readonly .value=${key} @focus=${({ target }) => target.select()} /></label>
      <p class="wide">Id <code>${id}</code>. ${expiresAt ? html`It ends at ${when(expiresAt)}.` : 'It does not end by itself.'}</p>`,
  }),
  newWebhook: ({ accounts }) => ({
    title: 'New webhook',
    label: 'Add the webhook',
    text: [
      'From now on each change of a swap of the account is posted to the URL. What is not public is refused, unless webhooks.allow opens it.',
      'The secret by which the receiver verifies is shown once. The ledger keeps it encrypted.',
      'Your name goes into the audit log.',
    ],
    fields: html`<label>Account <input name="account" list="webhook-accounts" required maxlength="64" autocomplete="off" spellcheck="false" /></label>
      <datalist id="webhook-accounts">${accounts.map((name) => html`<option value=${name}></option>`)}</datalist>
      <label>URL <input name="url" type="url" required maxlength="2048" placeholder="https://…" autocomplete="off" spellcheck="false" /></label>
      <label>Form <input name="form" maxlength="64" placeholder="A, B, …; empty: as configured" autocomplete="off" spellcheck="false" /></label>`,
    request: (form) => {
      const [account, url, name] = ['account', 'url', 'form'].map((field) => form.get(field).trim())
      return ['/webhooks', { method: 'POST', body: { account, url, ...(name !== '' && { form: name }) } }]
    },
    done: ({ account }) => `A webhook of ${account} is added.`,
    next: (added) => ({ kind: 'webhookSecret', webhook: added }),
  }),
  webhookSecret: ({ webhook: { id, account, url, secret, oldSecretEndsAt } }) => ({
    title: `The new secret of a webhook of ${account}`,
    isDone: true,
    text: ['Copy it now: when this is closed, nobody can read it again.'],
    fields: html`<label class="wide">Secret <input class="key" readonly .value=${secret} @focus=${({ target }) => target.select()} /></label>
      <p class="wide">Id <code>${id}</code>, to <code>${url}</code>.${oldSecretEndsAt ? html` The secret before signs too until ${when(oldSecretEndsAt)}.` : nothing}</p>`,
  }),
  rotateWebhook: ({ webhook: { id, url } }) => ({
    title: `Rotate the secret of ${id}`,
    label: 'Make another secret',
    text: [
      `What goes to ${url} is signed with another secret, which is shown once. During the overlap the secret of now signs too.`,
      'Your name goes into the audit log.',
    ],
    fields: html`<label>Overlap <input name="overlap" placeholder="24h; at most 7d; 0: ends it now" autocomplete="off" /></label>`,
    request: (form) => {
      const overlap = form.get('overlap').trim()
      return [`/webhooks/${encodeURIComponent(id)}/rotate`, { method: 'POST', body: { ...(overlap !== '' && { overlap }) } }]
    },
    done: () => `The webhook ${id} has another secret.`,
    next: (rotated) => ({ kind: 'webhookSecret', webhook: rotated }),
  }),
  removeWebhook: ({ webhook: { id, url, account, waiting } }) => ({
    title: `Remove a webhook of ${account}`,
    label: 'Remove the webhook',
    text: [
      `Nothing more goes to ${url}. ${waiting === 0 ? 'Nothing waits for it now.' : `${counted(waiting, 'change')} that ${waiting === 1 ? 'waits' : 'wait'} for it now ${waiting === 1 ? 'goes' : 'go'} with it.`} It cannot be taken back.`,
      'Your name goes into the audit log.',
    ],
    request: () => [`/webhooks/${encodeURIComponent(id)}`, { method: 'DELETE' }],
    done: () => `The webhook ${id} is removed.`,
  }),
  testWebhook: ({ webhook: { id, url } }) => ({
    title: `Test the webhook ${id}`,
    label: 'Send the test',
    text: [
      `${url} gets a signed "webhook.test" without data, now and beside all that waits.`,
      'Your name goes into the audit log.',
    ],
    request: () => [`/webhooks/${encodeURIComponent(id)}/test`, { method: 'POST' }],
    done: (attempt) => `${url}: ${answerText(attempt)}.`,
  }),
  replay: ({ delivery: { id, transaction } }) => ({
    title: `Send ${id} again`,
    label: 'Send it again',
    text: [
      `The receiver gets this change of ${transaction} once more, under the same id, now and beside its queue.`,
      'Your name goes into the audit log.',
    ],
    request: () => [`/deliveries/${encodeURIComponent(id)}/replay`, { method: 'POST' }],
    done: (attempt) => `${id}: ${answerText(attempt)}.`,
  }),
  revoke: ({ key: { id, name } }) => ({
    title: `Revoke a key of ${name}`,
    label: 'Revoke the key',
    text: [
      `Requests with the key ${id} are 401 from now on, within seconds everywhere. It cannot be taken back.`,
      'Your name goes into the audit log.',
    ],
    request: () => [`/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }],
    done: () => `The key ${id} is revoked.`,
  }),
  settleMany: ({ group: { kind, provider, cause, reason, rows }, query }) => ({
    title: `Settle together at ${provider}: ${cause}`,
    label: 'Show what it settles',
    text: [
      `${counted(rows.length, kind)}${query.account ? ` of ${query.account}` : ''}, and all others with this cause. Nothing is changed before you confirm what the next step shows.`,
    ],
    fields: html`<label>Outcome
        <select name="outcome" required><option value="">choose</option>${outcomesOf(rows).map(([value, text]) => html`<option value=${value}>${text}</option>`)}</select></label>
      <label>Note, for the audit log <input name="note" required maxlength="500" autocomplete="off" /></label>
      <label>From <input name="since" placeholder="a time, or 2h ago: 2h" autocomplete="off" /></label>
      <label>Before <input name="until" placeholder="a time, or 10m ago: 10m" autocomplete="off" /></label>`,
    request: (form) => {
      const [since, until] = [form.get('since').trim(), form.get('until').trim()]
      const body = {
        provider,
        ...(query.account && { account: query.account }),
        // One of the fields of a mismatch selects it.
        reason: reason.split(', ')[0],
        ...(since !== '' && { since }),
        ...(until !== '' && { until }),
        outcome: form.get('outcome'),
        note: form.get('note').trim(),
      }
      return ['/settlements', { method: 'POST', body }]
    },
    next: (preview, form) => ({
      kind: 'confirmMany',
      preview,
      of: { kind, provider, outcome: form.get('outcome') },
      result: { settled: 0, already: 0, left: [] },
    }),
  }),
  confirmMany: ({ preview, of, result }) => ({
    title: preview.confirm === null ? 'Nothing can be settled so' : `Settle ${counted(preview.count, of.kind)} at ${of.provider}?`,
    label: preview.confirm === null ? undefined : `Settle ${counted(preview.count, of.kind)}`,
    text: [
      ...(preview.confirm === null
        ? []
        : [
            settlementTexts[of.outcome]?.(of.provider) ??
              `Their clients see ${of.outcome} from now on. Choose only what ${of.provider} or the blockchain has proved.`,
            html`They are of ${when(preview.oldest)} to ${when(preview.newest)}. Each is checked and recorded as if you settled it alone; what changes before its turn is left.`,
          ]),
      ...(preview.more > 0 ? [`${integer(preview.more)} more are not among them: repeat this for them.`] : []),
    ],
    fields: html`<div class="wide">${previewGroups(preview.groups, of.kind)} ${leftRows(preview.left)}</div>`,
    run: (onProgress) => settleAll(preview, result, onProgress),
    next: () => ({ kind: 'settledMany', result, of }),
    done: ({ settled }) => `${counted(settled, of.kind)} settled.`,
  }),
  settledMany: ({ result: { settled, already, left }, of }) => ({
    title: `${counted(settled, of.kind)} settled`,
    isDone: true,
    text: [
      ...(already > 0 ? [`${integer(already)} had been settled meanwhile.`] : []),
      left.length === 0 ? 'None is left.' : 'These are left as they were:',
    ],
    fields: left.length === 0 ? undefined : html`<div class="wide">${leftRows(left)}</div>`,
  }),
}

const noteField = html`<label>Note <input name="note" required maxlength="500" autocomplete="off" /></label>`

/** Null: none is known. */
function chosenKey(form) {
  const chosen = form.get('key')
  if (chosen === 'none') return null
  return chosen === 'other' ? form.get('otherKey').trim() : chosen.slice('key '.length)
}

function decide(id, body) {
  return [`/found/${encodeURIComponent(id)}`, { method: 'POST', body }]
}

const limitNames = [
  ['quotes', 'Quotes'],
  ['create', 'Creates'],
  ['read', 'Reads'],
  ['streams', 'Streams'],
]

function accountField() {
  return html`<label>Account <input name="name" required maxlength="64" autocomplete="off" spellcheck="false" /></label>`
}

/** A disabled one is sent by no form: what it must be is beside it. */
function scopeBox([word, label]) {
  const isFixed = word === 'create' && !(may('money') && may('operate'))
  return html`<label class="check"><input type="checkbox" name=${word} value="true" .checked=${word !== 'create' || may('money')} ?disabled=${isFixed} /> ${label}</label>
    ${isFixed && may('money') ? html`<input type="hidden" name=${word} value="true" />` : nothing}`
}

/** What settling many does, where it is no status. */
const onceText =
  'The gateway sends it once, also over restarts. Your name and the note go into the audit log, and the client sees the result.'

const actionTexts = {
  refund: (id, refundAddress) => ({
    title: `Refund ${id}`,
    label: 'Ask for the refund',
    text: [
      refundAddress
        ? `The provider sends the deposit back to the refund address of the swap, ${refundAddress}.`
        : 'The provider sends the deposit back to the address below. Take it only from the client who owns the swap: nobody can take it back.',
      onceText,
    ],
  }),
  continue: (id) => ({
    title: `Continue ${id}`,
    label: 'Let it go on',
    text: ['The provider goes on with the swap, at its rate of now. It cannot be sent back after that.', onceText],
  }),
  'refund-address': (id) => ({
    title: `Set the refund address of ${id}`,
    label: 'Set the address',
    text: [
      'The swap has none. Take it only from the client who owns the swap: it is never changed, and the deposit may go there at once.',
      onceText,
    ],
  }),
}

const settlementTexts = {
  none: (provider) =>
    `Only if ${provider} has confirmed that it has none of these: the creates are deleted, and their Idempotency-Keys can be used again. Where there is one after all, its client may swap twice.`,
  accept: (provider) =>
    `What ${provider} reported counts, although it differs from the orders: the clients get it, with the deposit addresses.`,
}

const stateTexts = {
  draining: (provider, others) => [
    'Drain',
    [
      `No new quotes and swaps go to ${provider.name}; they go to: ${others}.`,
      `${openText(provider)} It is read until nothing is open.`,
    ],
  ],
  active: (provider) => [
    'Activate',
    [
      `New quotes and swaps go to ${provider.name} again${provider.weight === null ? '' : `, with weight ${integer(provider.weight)}`}.`,
    ],
  ],
  off: (provider, others) => [
    'Switch off',
    [`${provider.name} is not called any more, not even to read. New quotes and swaps go to: ${others}.`, openText(provider)],
  ],
}

function suspendedAt(providers, name) {
  return providers.find((provider) => provider.name === name)?.suspended.map(({ asset }) => asset) ?? []
}

function openText(provider) {
  const count = openCount(provider)
  return count === 0 ? `Nothing is open at ${provider.name}.` : `${counted(count, 'transaction')} open at ${provider.name} now.`
}

function takers(providers, strategy, without) {
  const isTaker = ({ name, state, isRouted, weight }) =>
    name !== without && isRouted && state === 'active' && !(strategy === 'weighted' && weight === 0)
  return list(providers.filter(isTaker).map(({ name }) => name))
}

function weightFields(routed) {
  const total = routed.reduce((sum, { weight, state }) => sum + (state === 'active' ? (weight ?? 0) : 0), 0)
  return routed.map(({ name, weight, state }) => {
    const share = state === 'active' ? `now ${percent(total === 0 ? 0 : (weight ?? 0) / total)} of new swaps` : state
    return html`<label>${name} <small>${share}</small>
      <input name="weight ${name}" type="number" min="0" max="1000" step="1" required value=${weight ?? nothing} /></label>`
  })
}

function settle(create) {
  return { done: ({ messages }) => messages?.join(' ') ?? `The create ${create.intent} is settled.` }
}

/** What a person has judged; a refusal has the names. */
const despiteField = html`<label>Although it differs in (names of a refusal, with commas) <input name="despite" maxlength="300" autocomplete="off" spellcheck="false" /></label>`

function despiteOf(form) {
  const names = form
    .get('despite')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.length === 0 ? {} : { despite: names }
}

function unresolvedPath({ intent }) {
  return `/unresolved/${encodeURIComponent(intent)}`
}

function about(create) {
  const order = orderOf(create)
  return `Create ${create.intent} at ${create.provider}: ${orderText(order)}, to ${order.withdrawalAddress}.`
}

/** `none` is for every create, `accept` for one whose response contradicted the request. */
function outcomesOf([{ state, reported }]) {
  if (state === 'attention') return ['refunded', 'success', 'overdue'].map((status) => [status, status])
  return [
    ['none', 'nothing was created'],
    ...(state === 'mismatch' && reported ? [['accept', 'what the provider reported counts']] : []),
  ]
}

function previewGroups(groups, kind) {
  return html`<ul class="plain">
    ${groups.map(
      ({ account, reason, count, withCandidates }) => html`<li>
        <b>${counted(count, kind)}</b> of ${account ?? 'no account'}: <code>${reason}</code>${
          withCandidates > 0 ? html`, <b class="alarm">${integer(withCandidates)} of them may exist at the provider</b>` : nothing
        }
      </li>`,
    )}
  </ul>`
}

const shownLeft = 50

function leftRows(left) {
  if (left.length === 0) return nothing
  return html`<p>${counted(left.length, 'row')} left as ${left.length === 1 ? 'it is' : 'they are'}:</p>
    <ul class="plain">
      ${left.slice(0, shownLeft).map(({ id, why }) => html`<li><code>${id}</code>: ${why}</li>`)}
      ${left.length > shownLeft ? html`<li>and ${integer(left.length - shownLeft)} more</li>` : nothing}
    </ul>`
}

/** Repeats the request until nothing remains, and adds to `result`. After a failure the same continues where it ended. */
async function settleAll({ confirm, count }, result, onProgress) {
  for (let remaining = count; remaining > 0; ) {
    onProgress({ done: count - remaining, all: count })
    const step = await call(`/settlements/${encodeURIComponent(confirm)}`, { method: 'POST' })
    result.settled += step.settled
    result.already += step.already
    result.left.push(...step.left)
    remaining = step.remaining
  }
  return result
}
