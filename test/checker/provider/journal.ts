/** What a provider received and did, as lines of JSON in a file, independent of any response. */
import { appendFileSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import type { Swap } from '../order.ts'
import type { InjectedReply } from './fault.ts'

export type Operation = 'currencies' | 'rate' | 'create' | 'list' | 'get' | 'other'

/** A request as it came. */
export interface Received {
  readonly what: 'received'
  /** Milliseconds since 1970. */
  readonly at: number
  readonly request: number
  readonly operation: Operation
  /** With the query, as it was sent. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Of the operation that it is for. */
  readonly mark?: string
}

/** A create that took effect, for the holder of this key. */
export interface Applied {
  readonly what: 'applied'
  readonly request: number
  readonly key: string
  readonly swap: Swap
  readonly mark?: string
}

/** A swap that is there, and that no create of this journal made; or one that was made, and is another by now. */
export interface Held {
  readonly what: 'held'
  readonly swap: Swap
}

/** How the request was ended: with a status, or worse. */
export interface Responded {
  readonly what: 'responded'
  readonly request: number
  readonly ending: InjectedReply
  /** The text of the response, if it is known. */
  readonly text?: string
}

/** In the order in which it happened. */
export type Journal = readonly (Received | Applied | Held | Responded)[]

/** Is in the file when it returns. */
export function append(file: string, entry: Journal[number]): void {
  appendFileSync(file, `${JSON.stringify(entry)}\n`)
}

export function readJournal(file: string): Journal {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Journal[number])
}
