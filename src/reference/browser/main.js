/** The reference: shows one form at a time, samples of what is typed, and the exact bytes of each response. */
import { bodyOf, samplesOf, targetOf } from './samples.js'

const root = document.documentElement
const key = document.getElementById('key')
const search = document.getElementById('search')
const found = document.getElementById('found')
const operations = [...document.querySelectorAll('.operation')]
const choices = [...document.querySelectorAll('[name=form]')]
const baseUrl = new URL('.', location.href).href.replace(/\/$/, '')
const isNarrow = matchMedia('(width < 64rem)')

root.classList.add('scripts')
for (const details of document.querySelectorAll('.folded')) details.open = false
const contents = document.querySelector('nav details')
contents.open = !isNarrow.matches
isNarrow.addEventListener('change', ({ matches }) => {
  contents.open = !matches
})

// The form.

function showForm(name) {
  for (const choice of choices) choice.checked = choice.value === name
  for (const part of document.querySelectorAll('[data-form]')) part.hidden = part.dataset.form !== name
}

/** The same operation of the new form stays in sight. */
function changeForm(name) {
  const current = operations.findLast((one) => one.offsetParent && one.getBoundingClientRect().top < innerHeight / 2)
  showForm(name)
  const same = current && document.getElementById(`${name}-${current.dataset.op}`)
  if (same && scrollY > 0) same.scrollIntoView()
  list()
}

for (const choice of choices) choice.addEventListener('change', () => changeForm(choice.value))

/** A link into another form shows that form; one into a folded part unfolds it. */
function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!target) return
  const form = target.closest('main [data-form]')
  if (form?.hidden) showForm(form.dataset.form)
  if (isNarrow.matches) contents.open = false
  target.scrollIntoView()
}

addEventListener('hashchange', follow)
// To the same place again.
for (const link of document.querySelectorAll('nav a'))
  link.addEventListener('click', () => {
    if (link.hash === location.hash) follow()
  })

// What is typed.

function fieldsOf(operation) {
  return [...operation.querySelectorAll('[data-place]')].map((input) => ({
    name: input.name,
    place: input.dataset.place,
    kind: input.dataset.kind,
    text: input.value.trim(),
  }))
}

function requestOf(operation, placeholder) {
  const { method, pattern, mount, keyed, stream } = operation.dataset
  const { keyHeader, keyValue } = operation.closest('article').dataset
  const fields = fieldsOf(operation)
  const given = key.value.trim() || (keyed === 'true' ? placeholder : '')
  const headers = [
    ...(given ? [[keyHeader, keyValue.replace('{key}', () => given)]] : []),
    ...fields.filter(({ place, text }) => place === 'header' && text).map(({ name, text }) => [name, text]),
    ...(method === 'POST' ? [['Content-Type', 'application/json']] : []),
  ]
  const body = method === 'POST' ? bodyOf(fields.filter(({ place }) => place === 'body')) : undefined
  return { method, url: baseUrl + mount + targetOf(pattern, fields), headers, body, isStream: stream === 'true' }
}

function showSamples(operation) {
  const samples = samplesOf(requestOf(operation, '<your key>'))
  for (const [language, text] of Object.entries(samples))
    operation.querySelector(`.sample[data-language=${language}] code`).textContent = text
}

/** What is typed in one form is there in the others, where they have the field. */
function share({ dataset, value }, operation) {
  for (const other of operations) {
    if (other === operation || other.dataset.op !== operation.dataset.op) continue
    const same = other.querySelector(`[data-field="${dataset.field}"]`)
    if (!same || same.value === value) continue
    same.value = value
    showSamples(other)
  }
}

key.addEventListener('input', () => operations.forEach(showSamples))
for (const operation of operations) {
  operation.addEventListener('input', ({ target }) => {
    if (!target.dataset.place) return
    if (target.dataset.place === 'body') renewIdempotencyKey(operation)
    share(target, operation)
    showSamples(operation)
  })
  operation.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault()
    send(operation)
  })
}

// A create happens once: under one key as long as its body is the same.

const sentKeys = new Set()

function randomKey() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0'))
  return hex.join('')
}

function renewIdempotencyKey(operation) {
  const input = operation.querySelector('[name=Idempotency-Key]')
  if (!input || !sentKeys.delete(input.value)) return
  setIdempotencyKey(randomKey())
  operations.forEach(showSamples)
}

function setIdempotencyKey(value) {
  for (const operation of operations) {
    const input = operation.querySelector('[name=Idempotency-Key]')
    if (input) input.value = value
  }
}

setIdempotencyKey(randomKey())

// Sending.

/** `shown`: the operation beside which the response is shown. */
async function send(operation, shown = operation) {
  const result = shown.querySelector('.result')
  const button = shown.querySelector('[type=submit]')
  if (button.ariaDisabled === 'true') return
  const { url, method, headers, body, isStream } = requestOf(operation, '')
  const input = operation.querySelector('[name=Idempotency-Key]')
  if (input) sentKeys.add(input.value)
  button.setAttribute('aria-disabled', 'true')
  result.hidden = false
  result.replaceChildren(line('p', 'Waiting…'))
  const began = performance.now()
  const tookMs = () => Math.round(performance.now() - began)
  try {
    const response = await fetch(url, { method, headers, body, cache: 'no-store', signal: stoppable(operation) })
    if (isStream && response.status === 200) return await showStream(response, result, tookMs())
    const text = await response.text()
    result.replaceChildren(...responseParts(response, text, tookMs()), ...sandboxButtons(shown, response, text))
    if (operation.dataset.op === 'createTransaction' && response.ok) rememberId(text)
  } catch (error) {
    if (error.name === 'AbortError') result.append(line('p', 'Stopped.'))
    else result.replaceChildren(line('p', `No response: ${error.message}`))
  } finally {
    button.removeAttribute('aria-disabled')
    const stop = operation.querySelector('.stop')
    if (stop) stop.hidden = true
  }
}

/** Ends with the button beside; undefined where a response is short. */
function stoppable(operation) {
  const stop = operation.querySelector('.stop')
  if (!stop) return undefined
  const stopping = new AbortController()
  stop.hidden = false
  stop.onclick = () => stopping.abort()
  return stopping.signal
}

/** Of a stream only the end is shown. */
const maxShown = 20_000

async function showStream(response, result, took) {
  const parts = responseParts(response, '', took)
  const code = parts[1].querySelector('code')
  result.replaceChildren(...parts)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read())
    code.textContent = (code.textContent + read.value).slice(-maxShown)
  result.append(line('p', 'The stream has ended.'))
}

function responseParts(response, text, took) {
  const status = line('p', `${response.status} ${response.statusText} in ${took} ms`)
  status.className = 'status'
  status.setAttribute('role', 'status')
  const reason = response.headers.get('x-swap-reason')
  if (reason) {
    const link = line('a', reason)
    link.href = `#${reason}`
    status.append(' ', link)
  }
  const body = line('pre', '')
  body.className = 'body'
  body.append(line('code', indented(text)))
  const headers = document.createElement('details')
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  headers.append(line('summary', `${lines.length} headers`), line('pre', lines.join('\n')))
  return [status, body, headers]
}

function line(name, text) {
  const element = document.createElement(name)
  element.textContent = text
  return element
}

/** JSON on several lines. It is never parsed, so that every digit is the one that was received. */
function indented(text) {
  let depth = 0
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? []
  const parts = tokens.map((token, at) => {
    const next = tokens[at + 1]
    const isOpening = token === '{' || token === '['
    if (isOpening) depth++
    if (next === '}' || next === ']') depth--
    if (isOpening && (next === '}' || next === ']')) return token
    const breaks = isOpening || token === ',' || next === '}' || next === ']'
    return token + (token === ':' ? ' ' : breaks ? `\n${'  '.repeat(depth)}` : '')
  })
  return parts.join('')
}

/** What can happen to a swap of the sandbox, each as a button below the swap. */
function sandboxButtons(operation, response, text) {
  const driving = document.getElementById(`${operation.closest('article').dataset.form}-driveSandbox`)
  if (!driving || !response.ok || !response.headers.has('x-swap-sandbox')) return []
  const { id } = JSON.parse(text)
  if (typeof id !== 'string') return []
  const event = driving.querySelector('[name=do]')
  const buttons = [...event.options].flatMap(({ value }) => {
    if (value === '') return []
    const button = line('button', labels[value] ?? value)
    button.type = 'button'
    button.addEventListener('click', () => {
      driving.querySelector('[data-place=path]').value = id
      event.value = value
      showSamples(driving)
      send(driving, operation)
    })
    return [button]
  })
  const group = line('p', 'In the sandbox: ')
  group.className = 'buttons'
  group.append(...buttons.flatMap((button) => [button, ' ']))
  return [group]
}

const labels = { pay: 'Pay it', hold: 'Hold it', fail: 'Let it fail', refund: 'Ask for a refund' }

/** The next request is usually about the swap that was created. */
function rememberId(text) {
  const { id } = JSON.parse(text)
  if (typeof id !== 'string') return
  for (const operation of operations) {
    if (!['getTransaction', 'watchTransaction'].includes(operation.dataset.op)) continue
    operation.querySelector('[data-place=path]').value = id
    showSamples(operation)
  }
}

// The language of the samples.

function showLanguage(language) {
  root.dataset.language = language
  for (const button of document.querySelectorAll('.languages [data-language]'))
    button.setAttribute('aria-pressed', String(button.dataset.language === language))
}

for (const button of document.querySelectorAll('.languages [data-language]'))
  button.addEventListener('click', () => showLanguage(button.dataset.language))
for (const button of document.querySelectorAll('.copy'))
  button.addEventListener('click', async () => {
    const sample = button.closest('.code').querySelector(`.sample[data-language=${root.dataset.language}] code`)
    const isCopied = await navigator.clipboard?.writeText(sample.textContent).then(
      () => true,
      () => false,
    )
    if (!isCopied) getSelection().selectAllChildren(sample)
    button.textContent = isCopied ? 'Copied' : 'Selected'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })

// The search: in the text of every part, not in its title only.

const links = [...document.querySelectorAll('nav li a')]

function list() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  let count = 0
  for (const link of links) {
    const part = document.getElementById(decodeURIComponent(link.hash.slice(1)))
    const text = `${link.textContent} ${part?.textContent ?? ''}`.toLowerCase()
    const isFound = words.every((word) => text.includes(word))
    link.parentElement.hidden = !isFound
    if (isFound && !link.closest('[data-form]')?.hidden) count++
  }
  found.textContent = words.length === 0 ? '' : `${count} found`
}

search.addEventListener('input', list)
search.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return
  const first = links.find((link) => link.offsetParent)
  first?.click()
  first?.focus()
})
addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target.matches('input, select, textarea')) return
  event.preventDefault()
  contents.open = true
  search.focus()
})

showForm(choices.find(({ defaultChecked }) => defaultChecked).value)
showLanguage('curl')
operations.forEach(showSamples)
follow()
