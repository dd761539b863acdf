/** The changes that buttons offer: explanation, request, and announcement after success. */
import { html, nothing } from 'lit-html'
import { counted, integer, list, orderText, percent } from './format.js'
import { openCount } from './providers.js'

const everywhere =
  'This process follows at once, the others within 5 s. The configuration file is not changed; your name goes into the audit log.'

/** `title`, `label` of the button, `text` as paragraphs, `fields`, `request(form, isForced)` and `done`. */
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
      text: [...text, everywhere],
      request: (_, force) => [`/providers/${encodeURIComponent(name)}`, { method: 'PATCH', body: { state, force } }],
      done: () => `${name} is ${state}.`,
    }
  },
  weights(_, { providers }) {
    const routed = providers.filter(({ isRouted }) => isRouted)
    return {
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
    fields: html`<label>Id of the transaction at ${create.provider} <input name="bind" required maxlength="300" autocomplete="off" .value=${create.reported?.id ?? ''} /></label>`,
    request: (form, force) => [
      unresolvedPath(create),
      { method: 'POST', body: { bind: form.get('bind').trim(), ...(force && { force }) } },
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

function unresolvedPath({ intent }) {
  return `/unresolved/${encodeURIComponent(intent)}`
}

function about({ intent, provider, requested }) {
  return `Create ${intent} at ${provider}: ${orderText(requested)}, to ${requested.withdrawalAddress}.`
}
