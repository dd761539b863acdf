/** One operation of a form: what it does, what it takes with a field for each value, samples beside it, what it returns. */

import type { StreamName } from '../domain/event-stream.ts'
import type { Reason } from '../domain/fault.ts'
import type { Question } from '../domain/question.ts'
import type { Op } from '../domain/service.ts'
import { type Endpoint, type Form, nameOf } from '../wire/form.ts'
import { bodyOf, samplesOf, targetOf } from './browser/samples.js'
import { type Description, type FieldSchema, type Operation, type Response, resolved } from './description.ts'
import { html, inline, type Markup } from './markup.ts'

/** What is typed: a parameter, a header or a member of the body. */
interface Field {
  readonly name: string
  readonly place: string
  readonly isRequired: boolean
  readonly type: string
  /** What JSON has for it. */
  readonly kind: string
  readonly description: string
  readonly choices: readonly string[] | undefined
  readonly value: string
  /** The field of the model, by which forms share what is typed. */
  readonly field: string | undefined
}

interface Place {
  readonly form: Form
  readonly endpoint: Endpoint
  readonly origin: string
  readonly description: Description
}

/** The anchor of an operation. */
export function anchorOf(form: Form, endpoint: Endpoint): string {
  return `${form.name.toLowerCase()}-${nameOf(endpoint)}`
}

export function operationMarkup(place: Place): Markup {
  const { form, endpoint, origin, description } = place
  const { method, path, keyed } = endpoint
  const operation = description.paths[path.pattern]?.[method.toLowerCase()] as Operation
  const fields = fieldsOf(operation, place)
  const ofRequest = fields.filter(({ place: where }) => where !== 'header')
  const [main, more] = [ofRequest.filter(isMain), ofRequest.filter((field) => !isMain(field))]
  const headers = fields.filter(({ place: where }) => where === 'header')
  const id = anchorOf(form, endpoint)
  const mount = `/${form.name.toLowerCase()}/api/v2`
  return html`<section class="operation" id="${id}" data-op="${nameOf(endpoint)}" data-method="${method}" data-pattern="${path.pattern}" data-mount="${mount}" data-keyed="${String(keyed)}" data-stream="${String('stream' in endpoint)}" aria-labelledby="${id}-title">
<h3 id="${id}-title"><span class="method">${method}</span> <code>${path.pattern}</code> <small>${operation.summary}</small></h3>
<div class="sides">
<div class="text">
<p>${inline(operation.description)} ${keyed ? 'It needs your key.' : 'It needs no key.'}</p>
<form class="request" autocomplete="off">
${main.map((field) => fieldMarkup(field, id))}
${more.length > 0 && detailsMarkup(`${main.length > 0 ? 'More' : 'Optional'}: ${more.map(({ name }) => name).join(', ')}`, html`${more.map((field) => fieldMarkup(field, id))}`)}
${detailsMarkup(`Headers: ${headers.map(({ name }) => name).join(', ')}`, html`${headers.map((field) => fieldMarkup(field, id))}`)}
<p class="buttons"><button type="submit" class="primary scripted">Send to this gateway</button>${'stream' in endpoint && html` <button type="button" class="stop scripted" hidden>Stop</button>`}</p>
</form>
</div>
<div class="code">
${samplesMarkup(fields, place, method, `${origin}${mount}`)}
<div class="result scripted" role="region" aria-label="Response of ${method} ${path.pattern}, Form ${form.name}" tabindex="0" hidden></div>
</div>
<div class="returns">
${responseMarkup(operation, place)}
</div>
</div>
</section>
`
}

/** With what a request makes sense; the others are behind a heading. */
function isMain({ isRequired, value, place }: Field): boolean {
  return isRequired || place === 'path' || value !== ''
}

function fieldsOf(operation: Operation, { endpoint, description }: Place): readonly Field[] {
  const { slots } = endpoint.requestCodec
  const fieldNamed = (name: string): string | undefined => slots.find((slot) => slot.name === name)?.field
  const parameters = operation.parameters
    .map((one) => resolved(one, description))
    .map((parameter) =>
      fieldOf(parameter.schema, {
        name: parameter.name,
        place: parameter.in,
        isRequired: parameter.required ?? false,
        description: parameter.description,
        example: parameter.example,
        field: parameter.in === 'header' ? parameter.name : fieldNamed(parameter.name),
      }),
    )
  const body = operation.requestBody?.content['application/json']
  const schema = body ? resolved(body.schema, description) : undefined
  const members = Object.entries(schema?.properties ?? {}).map(([name, member]) =>
    fieldOf(member, {
      name,
      place: 'body',
      isRequired: schema?.required?.includes(name) ?? false,
      description: member.description ?? '',
      example: body?.example?.[name],
      field: fieldNamed(name),
    }),
  )
  return [...parameters, ...members]
}

interface Given extends Pick<Field, 'name' | 'place' | 'isRequired' | 'description' | 'field'> {
  readonly example: unknown
}

function fieldOf(schema: FieldSchema, { example, ...given }: Given): Field {
  const [kind = 'string'] = [schema.type ?? 'string'].flat()
  const isOneChoice = schema.enum?.length === 1 // the form of the path: nobody needs to type it
  return {
    ...given,
    kind,
    type: `${wordOf[kind] ?? kind}${given.isRequired ? ', required' : ''}`,
    choices: isOneChoice ? undefined : schema.enum?.map(String),
    value: example === undefined ? '' : textOf(example),
  }
}

const wordOf: Readonly<Record<string, string>> = { string: 'text', boolean: 'true or false' }

/** Numbers with their digits. */
function textOf(example: unknown): string {
  return typeof example === 'string' ? example : JSON.stringify(example)
}

function fieldMarkup({ name, place, type, kind, description, choices, value, field }: Field, operation: string): Markup {
  const id = `${operation}-${place}-${name}`
  const about = html`id="${id}" name="${name}" data-place="${place}" data-kind="${kind}" data-field="${field ?? name}" aria-describedby="${id}-help"`
  const control =
    choices === undefined
      ? html`<input ${about} value="${value}" spellcheck="false" autocapitalize="off" autocomplete="off">`
      : html`<select ${about}><option value=""></option>${choices.map((choice) => html`<option${choice === value && html` selected`}>${choice}</option>`)}</select>`
  return html`<div class="field"><label for="${id}"><code>${name}</code> <small>${type}</small></label>${control}<p id="${id}-help">${inline(description)}</p></div>
`
}

/** Open for who reads without JavaScript; the page closes it. */
function detailsMarkup(summary: string, content: Markup): Markup {
  return html`<details open class="folded"><summary>${summary}</summary>${content}</details>
`
}

const languages = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const

function samplesMarkup(fields: readonly Field[], { form, endpoint }: Place, method: string, base: string): Markup {
  const typed = fields.map(({ name, place, kind, value }) => ({ name, place, kind, text: value }))
  const ofBody = typed.filter(({ place }) => place === 'body')
  const credential = endpoint.keyed ? Object.values(form.credential.encode('<your key>')) : []
  const headers = [
    ...credential.map((value): [string, string] => [form.credential.name, value ?? '']),
    ...(nameOf(endpoint) === 'createTransaction' ? ([['Idempotency-Key', '<a new one for each swap>']] as const) : []),
    ...(method === 'POST' ? ([['Content-Type', 'application/json']] as const) : []),
  ]
  const url = base + targetOf(endpoint.path.pattern, typed)
  const samples = samplesOf({
    method,
    url,
    headers,
    body: method === 'POST' ? bodyOf(ofBody) : undefined,
    isStream: 'stream' in endpoint,
  })
  const buttons = Object.entries(languages).map(
    ([language, name]) =>
      html`<button type="button" data-language="${language}" aria-pressed="${String(language === 'curl')}">${name}</button>`,
  )
  const shown = Object.entries(samples).map(
    ([language, text]) =>
      html`<div class="sample" data-language="${language}"><p class="unscripted">${languages[language as keyof typeof languages]}</p><pre><code>${text}</code></pre></div>`,
  )
  return html`<div class="languages scripted" role="group" aria-label="Language of the samples">${buttons}<button type="button" class="copy">Copy</button></div>
${shown}`
}

function responseMarkup(operation: Operation, place: Place): Markup {
  const { description } = place
  const all = Object.entries(operation.responses).map(([status, one]) => [status, resolved(one, description)] as const)
  const errors = all.filter(([status]) => Number(status) >= 400)
  return html`${all.filter(([status]) => Number(status) < 400).map(([status, response]) => successMarkup(status, response, place))}
${detailsMarkup('Errors, with the reasons of each status', html`<dl>${errors.map(([status, response]) => errorMarkup(status, response, nameOf(place.endpoint)))}</dl>`)}`
}

/** Lines. A longer one is folded, so that an operation fits on two screens. */
const shortExample = 28

function successMarkup(status: string, response: Response, { description }: Place): Markup {
  const { 'application/json': content, 'text/event-stream': stream } = response.content ?? {}
  if (stream)
    return html`<p><strong>${status}</strong> ${inline(stream.schema.description ?? '')}</p>
<pre><code>${stream.example}</code></pre>`
  if (content === undefined) return html`<p><strong>${status}</strong> ${inline(response.description)}</p>`
  const rows = rowsOf(resolved(content.schema, description), '', description)
  const names = Object.keys(response.headers ?? {})
  const members = rows.map(
    ([name, schema]) =>
      html`<dt><code>${name}</code> <small>${[schema.type ?? 'value']
        .flat()
        .map((word) => wordOf[word] ?? word)
        .join(' or ')}</small></dt><dd>${inline(schema.description ?? '')}</dd>`,
  )
  const headers = names.map(
    (name) => html`<dt><code>${name}</code></dt><dd>${inline(description.components.headers[name]?.description ?? '')}</dd>`,
  )
  const example = JSON.stringify(content.example, null, 2)
  const lines = example.split('\n').length
  const shown = html`<pre><code>${example}</code></pre>`
  return html`<p><strong>${status}</strong> ${inline(response.description)}</p>
${lines > shortExample ? detailsMarkup(`An example of ${lines} lines`, shown) : shown}
${detailsMarkup(`${rows.length} fields of the response`, html`<dl>${members}</dl>`)}
${detailsMarkup(`${names.length} headers of the response`, html`<dl>${headers}</dl>`)}`
}

/** The members of a body, at any depth, by their path. */
function rowsOf(schema: FieldSchema, prefix: string, description: Description): readonly (readonly [string, FieldSchema])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix + name
    const items = member.items && rowsOf(resolved(member.items, description), `${path}[].`, description)
    const inner = items ?? (member.properties && rowsOf(member, `${path}.`, description))
    return inner ?? [[path, member] as const]
  })
}

type Name = Op | Question | StreamName

const ofCreates: readonly Name[] = ['createTransaction']
const ofAmounts: readonly Name[] = ['getRate', 'listRates', ...ofCreates]
const ofAssets: readonly Name[] = ['describePair', 'checkAddress', ...ofAmounts]

/** The description has the reasons of a status. These are of some operations only. */
const operationsOf: Readonly<Partial<Record<Reason, readonly Name[]>>> = {
  unknown_asset: ofAssets,
  network_required: ofAssets,
  network_unknown: ofAssets,
  not_offered: ofAssets,
  below_minimum: ofAmounts,
  above_maximum: ofAmounts,
  address_invalid: ofCreates,
  memo_invalid: ofCreates,
  mismatch: ofCreates,
  outcome_unknown: ofCreates,
  idempotency_key_missing: ofCreates,
}

function errorMarkup(status: string, { description, headers }: Response, operation: Name): Markup {
  const ofStatus = (headers?.['X-Swap-Reason']?.schema?.enum ?? []) as readonly Reason[]
  const reasons = ofStatus.filter((reason) => operationsOf[reason]?.includes(operation) ?? true)
  const links = reasons.map((reason) => html` <a href="#${reason}">${reason}</a>`)
  return html`<dt>${status}</dt><dd>${inline(description)}${links}</dd>`
}
