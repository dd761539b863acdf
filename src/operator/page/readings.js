/**
 * What the page has read of the API, each with its age. A reading that fails keeps the one before, which is then old: what was well
 * some time ago is not shown as well now.
 */
import { ApiError } from './api.js'

const tickMs = 1_000
/** Of an answer, beyond the time after which it is read again. */
const graceMs = 10_000
/** After a reading that nobody could answer: an outage that ended is not shown for long. */
const retryMs = 5_000

export class Readings {
  #sources
  #onChange
  #onRead
  #onLost
  #readings = new Map()
  #wanted = []
  #timer
  /** Grows with each sign-in: what an earlier one asked for is dropped. */
  #session = 0

  /**
   * `sources`: by name a function that reads, and `everyMs` after which it is read again.
   * `onRead(name, value, before)` with each answer, `onChange()` whenever something is to be shown, `onLost(error)` where the token
   * is not valid any more.
   */
  constructor(sources, { onRead, onChange, onLost }) {
    this.#sources = sources
    this.#onRead = onRead
    this.#onChange = onChange
    this.#onLost = onLost
  }

  /** `names`: what the page shows, until it shows something else. What is old is read at once. */
  show(names) {
    this.#wanted = names
    this.#timer ??= setInterval(() => this.#tick(), tickMs)
    this.#readDue()
  }

  /** Forgets everything. */
  stop() {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#session++
    this.#readings.clear()
  }

  /** Reads these next time also if they are not old; until then they are as they were. */
  expire(names) {
    for (const name of names) if (this.#readings.has(name)) this.#readings.get(name).startedAt = undefined
  }

  forget(name) {
    this.#readings.delete(name)
  }

  /** Undefined as long as nothing was read, also `value`. `problem`: why the last reading failed. `ageMs`: of the value. */
  get(name) {
    const { value, at, problem } = this.#readings.get(name) ?? {}
    const ageMs = at === undefined ? undefined : Date.now() - at
    return { value, at, problem, ageMs, isOld: problem !== undefined || ageMs > this.#sources[name].everyMs + graceMs }
  }

  /** What the answer to another request says of it. */
  put(name, value) {
    const reading = this.#readings.get(name) ?? {}
    const now = Date.now()
    this.#readings.set(name, Object.assign(reading, { value, at: now, startedAt: now, problem: undefined }))
    this.#onChange()
  }

  /** Reads what is shown of these again: once more where a reading is on its way, which may be older than what has just changed. */
  async read(names) {
    await Promise.all(names.filter((name) => this.#wanted.includes(name)).map((name) => this.#read(name)))
  }

  #tick() {
    this.#readDue()
    // An age grows.
    if (this.#wanted.some((name) => this.get(name).isOld)) this.#onChange()
  }

  #readDue() {
    for (const name of this.#wanted) {
      const { startedAt, isReading, problem } = this.#readings.get(name) ?? {}
      const { everyMs } = this.#sources[name]
      const pauseMs = isUnanswered(problem) ? Math.min(everyMs, retryMs) : everyMs
      if (!isReading && (startedAt === undefined || Date.now() - startedAt >= pauseMs)) this.#read(name)
    }
  }

  async #read(name) {
    const session = this.#session
    const reading = this.#readings.get(name) ?? {}
    if (reading.isReading) {
      reading.isOutdated = true
      return
    }
    Object.assign(reading, { isReading: true, isOutdated: false, startedAt: Date.now() })
    this.#readings.set(name, reading)
    const startedAt = Date.now()
    try {
      const value = await this.#sources[name].read()
      if (session !== this.#session || this.#readings.get(name) !== reading) return
      const before = reading.value
      Object.assign(reading, { value, at: startedAt, problem: undefined })
      this.#onRead(name, value, before)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (session !== this.#session || this.#readings.get(name) !== reading) return
      if (error.status === 401) return this.#onLost(error)
      reading.problem = error
    } finally {
      reading.isReading = false
    }
    this.#onChange()
    if (reading.isOutdated) await this.#read(name)
  }
}

/** Of an error, if there is one. Not what was refused, which is refused again: the gateway or what it needs was away. */
export function isUnanswered(problem) {
  return problem !== undefined && (problem.status === 0 || problem.status >= 500)
}
