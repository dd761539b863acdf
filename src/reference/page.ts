/** The reference at `/docs`: HTML made from the OpenAPI documents, complete without JavaScript; with it, requests can be sent. */
import { readFileSync } from 'node:fs'
import type { StreamName } from '../domain/event-stream.ts'
import { reasons } from '../domain/fault.ts'
import type { Question } from '../domain/question.ts'
import type { Op } from '../domain/service.ts'
import { describeForm, endpointsOf, streamsOf } from '../edges/openapi/document.ts'
import { guide, reasonGuide, type Served, sandboxKey } from '../edges/openapi/introduction.ts'
import { docsPath } from '../edges/static-page.ts'
import { type Endpoint, type Form, nameOf } from '../wire/form.ts'
import { entityTag } from '../wire/http.ts'
import { contentOf, leadTo, type StaticPage } from '../wire/static-page.ts'
import type { Description } from './description.ts'
import { html, inline, type Markup, markdown } from './markup.ts'
import { anchorOf, operationMarkup } from './operation.ts'

const root = docsPath.slice(1)
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:', // an empty icon, so that none is asked for
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const folder = new URL('browser/', import.meta.url)
const files = {
  'page.css': 'text/css; charset=utf-8',
  'main.js': 'text/javascript; charset=utf-8',
  'samples.js': 'text/javascript; charset=utf-8',
}

/** The page, its files, and the paths that lead a browser there. `origin`: that of the gateway, for samples without JavaScript. */
export function referencePages(forms: readonly Form[], served: Served, origin: string): readonly StaticPage[] {
  const texts = Object.entries(files).map(([name, type]) => ({ name, type, text: readFileSync(new URL(name, folder), 'utf8') }))
  // The path changes with the content, so that the files can be cached for ever.
  const version = entityTag(texts.map(({ text }) => text).join()).replaceAll('"', '')
  const content = contentOf((mountedAt) => pageOf(forms, served, origin + mountedAt, `${root}/${version}`).html)
  return [
    { path: docsPath, type: 'text/html; charset=utf-8', content, isImmutable: false, contentSecurityPolicy },
    ...texts.map(({ name, type, text }) => ({
      path: `/${root}/${version}/${name}`,
      type,
      content: contentOf(() => text),
      isImmutable: true,
    })),
    leadTo(`../${root}`, `${docsPath}/`, false),
    leadTo(root, '/', true),
    ...forms.map((form) => leadTo(`${root}#form-${form.name.toLowerCase()}`, `/${form.name.toLowerCase()}`, true)),
  ]
}

const subjects: Readonly<Record<Op | Question | StreamName, string>> = {
  listCurrencies: 'Coins',
  getRate: 'Quote',
  createTransaction: 'Create a swap',
  listTransactions: 'Your swaps',
  getTransaction: 'One swap',
  checkAddress: 'Check an address',
  describePair: 'Pair',
  listRates: 'All quotes',
  coinNetworks: 'Networks of a coin',
  allNetworks: 'All networks',
  refundTransaction: 'Ask for a refund',
  continueTransaction: 'Continue',
  setRefundAddress: 'Set a refund address',
  driveSandbox: 'Drive the sandbox',
  watchTransaction: 'Changes of a swap',
  watchTransactions: 'Changes of all swaps',
}

function shownOf(form: Form, served: Served): readonly Endpoint[] {
  return [...endpointsOf(form, served), ...streamsOf(form, served)]
}

/** The links are relative, so that they work behind a proxy that adds a path prefix. */
function pageOf(forms: readonly Form[], served: Served, origin: string, path: string): Markup {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>swapgate: the API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${path}/page.css">
<script type="module" src="${path}/main.js"></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<h1><a href="#content">swapgate</a></h1>
<fieldset class="forms scripted"><legend>Form</legend>${forms.map((form) => formChoice(form, served))}</fieldset>
<label class="key scripted">Key <input id="key" name="key" value="${served.sandbox?.takesKeys ? sandboxKey : ''}" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
</header>
<nav aria-label="Contents">
<details open><summary>Contents</summary>
<label class="search scripted">Search <input id="search" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></label>
<p id="found" class="scripted" role="status"></p>
${forms.map((form) => contentsOf(form, served))}
<section><h2><a href="#errors">Errors</a></h2>
<ul class="reasons">${reasons.map((reason) => html`<li><a href="#${reason}">${reason}</a></li>`)}</ul></section>
</details>
</nav>
<main id="content" tabindex="-1">
${forms.map((form) => formMarkup(form, served, origin))}
${errorsMarkup(forms)}
</main>
</body>
</html>
`
}

function formChoice({ name }: Form, { defaultForm }: Served): Markup {
  const isDefault = name.toLowerCase() === defaultForm.toLowerCase()
  return html`<label><input type="radio" name="form" value="${name.toLowerCase()}"${isDefault && html` checked`}> ${titleOf(name)}</label>`
}

/** `A`, or the name of the form in other words. */
function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** The heading of a part of the guide, and its anchor; the first part has none of its own. */
function headingOf(text: string): string {
  return /^## (.*)/.exec(text)?.[1] ?? 'Overview'
}

function guideAnchor(form: Form, heading: string): string {
  return `${form.name.toLowerCase()}--${heading.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
}

function contentsOf(form: Form, served: Served): Markup {
  const { name } = form
  const link = (anchor: string, text: string): Markup => html`<li><a href="#${anchor}">${text}</a></li>`
  return html`<section data-form="${name.toLowerCase()}"><h2><a href="#form-${name.toLowerCase()}">Form ${titleOf(name)}</a></h2>
<ul>${shownOf(form, served).map((endpoint) => link(anchorOf(form, endpoint), subjects[nameOf(endpoint)]))}</ul>
<ul>${guide(form, served).map((text) => link(guideAnchor(form, headingOf(text)), headingOf(text)))}</ul></section>
`
}

function formMarkup(form: Form, served: Served, origin: string): Markup {
  const { credential } = form
  const mount = form.name.toLowerCase()
  const description = describeForm(form, served) as unknown as Description
  const [header = '', value = ''] = [credential.name, Object.values(credential.encode('{key}'))[0]]
  return html`<article class="form" id="form-${mount}" data-form="${mount}" data-key-header="${header}" data-key-value="${value}">
<h2>Form ${titleOf(form.name)} <small><code>/${mount}/api/v2</code> · <a href="${mount}/openapi.json">OpenAPI</a></small></h2>
${shownOf(form, served).map((endpoint) => operationMarkup({ form, endpoint, origin, description }))}
${guide(form, served).map((text) => html`<section class="guide" id="${guideAnchor(form, headingOf(text))}">${text.startsWith('## ') ? '' : html`<h3>Overview</h3>`}${markdown(text)}</section>`)}
</article>
`
}

/** One part for all forms: a reason is the anchor that the responses link to. */
function errorsMarkup(forms: readonly Form[]): Markup {
  const bodies = forms.map((form) => {
    const { components } = describeForm(form) as unknown as Description
    const { BadRequest } = components.responses as Readonly<
      Record<string, { readonly content: { readonly 'application/json': { readonly example: unknown } } }>
    >
    return html`<dt>Form ${titleOf(form.name)}</dt><dd><code>${JSON.stringify(BadRequest?.content['application/json'].example)}</code></dd>`
  })
  return html`<section id="errors"><h2>Errors</h2>
<p>Every 4xx and 5xx, on any path, has the body of the form, whatever <code>Accept</code> is. <code>X-Swap-Reason</code> is the cause for programs, the message is for people.</p>
<dl>${bodies}</dl>
${reasons.map((reason) => {
  const { statuses, when, action } = reasonGuide[reason]
  return html`<section class="reason" id="${reason}"><h3><code>${reason}</code> <small>${statuses.join(', ')}</small></h3><p>${inline(when)} <span class="action">${inline(action)}</span></p></section>
`
})}</section>`
}
