/** The operator's API. The token is kept in this module's memory only. */

const requestTimeoutMs = 15_000
/** The server sends a comment every 15 s. */
const silenceMs = 40_000
const maxBackoffMs = 30_000

let token = ''

export function setToken(text) {
  token = text
}

/** An error response of the API, or none at all (`status` 0). */
export class ApiError extends Error {
  constructor(status, message, canForce = false) {
    super(message)
    this.status = status
    this.canForce = canForce
  }
}

/** The JSON of the response; throws an `ApiError`. */
export async function call(path, { method = 'GET', body } = {}) {
  return await bodyOf(await send(path, { method, body, signal: AbortSignal.timeout(requestTimeoutMs) }))
}

/** A page of a list: its rows, its own path, and the path of the next one, if there is one. */
export async function callPage(path) {
  const response = await send(path, { signal: AbortSignal.timeout(requestTimeoutMs) })
  const [, next] = /^<\/api(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? []
  return { rows: await bodyOf(response), path, next }
}

/** Throws an `ApiError`, too, if it breaks off or does not end in time. */
async function bodyOf(response) {
  try {
    return await response.json()
  } catch {
    throw new ApiError(0, 'The response of the gateway broke off.')
  }
}

async function send(path, { method = 'GET', body, signal }) {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
  const options = { method, headers, signal, cache: 'no-store', credentials: 'omit', redirect: 'error' }
  let response
  try {
    response = await fetch(`api${path}`, { ...options, ...(body && { body: JSON.stringify(body) }) })
  } catch {
    throw new ApiError(0, 'The gateway does not answer.')
  }
  if (response.ok) return response
  const { message, canForce } = await response.json().catch(() => ({}))
  throw new ApiError(response.status, message ?? `The gateway answered ${response.status}.`, canForce)
}

/**
 * Reads the events until `signal` is aborted, and connects again with growing pauses. `onState`: whether it is connected, or the
 * error that ended it.
 */
export async function followEvents({ signal, onEvent, onState }) {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await readEvents(signal, onEvent, () => {
        failures = 0
        onState(true)
      })
      onState(false)
    } catch (error) {
      if (signal.aborted) return
      onState(false, error)
    }
    const pauseMs = Math.min(maxBackoffMs, 1_000 * 2 ** failures)
    await pause(pauseMs * (0.5 + Math.random() / 2), signal)
  }
}

async function readEvents(signal, onEvent, onOpen) {
  const silence = new AbortController()
  let timer
  const isAlive = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), silenceMs)
  }
  isAlive()
  try {
    const { body } = await send('/events', { signal: AbortSignal.any([signal, silence.signal]) })
    onOpen()
    let rest = ''
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      isAlive()
      const parts = (rest + text).split('\n\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? []
        if (event !== undefined) onEvent(event, JSON.parse(data))
      }
    }
  } finally {
    clearTimeout(timer)
  }
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
    signal.addEventListener('abort', resolve, { once: true })
  })
}
