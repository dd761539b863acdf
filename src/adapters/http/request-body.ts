/** node:http: reads a body as text. Enforces the limit while it reads; libraries read the whole body first. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '../../domain/fault.ts'
import { type BodyStart, bodyWasRead } from '../../wire/http.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Throws a `Fault`: 413 as soon as the body exceeds `maxBytes`, 415 if it is compressed, 400 if it is incomplete or not UTF-8. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') throw new Fault('unsupportedMediaType', 'The body must not be compressed.')
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const bytes = await readBytes(request, maxBytes)
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new Fault('invalid', 'The body must be UTF-8.', { reason: 'body_invalid', cause })
  }
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const received = new GrowingBuffer()
  return new Promise((resolve, reject) => {
    const breakOff = (cause?: Error): void => reject(new Fault('invalid', 'The body broke off.', { reason: 'body_invalid', cause }))
    if (request.readableDidRead) return reject(bodyWasRead())
    if (request.destroyed) return breakOff()
    request.on('data', (chunk: Buffer) => {
      if (received.length + chunk.length <= maxBytes) return received.append(chunk)
      request.pause()
      reject(tooLarge(maxBytes))
    })
    request.on('end', () => resolve(received.take()))
    request.on('error', breakOff)
    request.on('close', () => breakOff())
  })
}

/** Waits for so much of the body, and leaves all of it to be read. Throws a `Fault` where nothing comes for `idleMs`, or all takes `totalMs`. */
export function peekBody(request: IncomingMessage, maxBytes: number, idleMs: number, totalMs: number): Promise<BodyStart> {
  const received = new GrowingBuffer()
  return new Promise((resolve, reject) => {
    const read = (): void => {
      idle.refresh()
      while (received.length <= maxBytes) {
        const chunk: Buffer | null = request.read()
        if (chunk === null) break
        received.append(chunk)
      }
      const isWhole = received.length <= maxBytes
      if (isWhole && !request.complete) return
      leave()
      const bytes = received.take()
      // In the turn in which the last was read: the stream has not ended yet.
      if (bytes.length > 0) request.unshift(bytes)
      resolve({ bytes, isWhole })
    }
    const fail = (message: string): void => {
      leave()
      reject(new Fault('tooSlow', message))
    }
    const giveUp = (): void => fail('The request did not arrive in time.')
    const hangUp = (): void => fail('The client hung up.')
    const leave = (): void => {
      clearTimeout(idle)
      clearTimeout(total)
      request.off('readable', read).off('end', read).off('error', hangUp).off('close', hangUp)
    }
    const idle = setTimeout(giveUp, idleMs)
    const total = setTimeout(giveUp, totalMs)
    if (request.destroyed) hangUp()
    else request.on('readable', read).once('end', read).once('error', hangUp).once('close', hangUp)
  })
}

function tooLarge(maxBytes: number): Fault {
  return new Fault('tooLarge', `The body must have at most ${maxBytes} bytes.`)
}

/** node:buffer: joins chunks as they come. A list of them needs about 250 bytes for each, also for a chunk of one byte. */
class GrowingBuffer {
  private bytes: Buffer = Buffer.alloc(0)
  length = 0

  /** A first chunk is kept as it is: it must not change. */
  append(chunk: Buffer): void {
    if (this.length === 0) {
      this.bytes = chunk
      this.length = chunk.length
      return
    }
    const length = this.length + chunk.length
    if (length > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * length)
      this.bytes.copy(larger, 0, 0, this.length)
      this.bytes = larger
    }
    chunk.copy(this.bytes, this.length)
    this.length = length
  }

  /** All bytes; then it is empty. */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.length)
    this.bytes = Buffer.alloc(0)
    this.length = 0
    return taken
  }
}

// node:http: a body that is not read yet is kept in one piece. Node keeps each chunk, and 65,536 of one byte take 16 MB.

/** Bytes from which the connection is not read until the body is. */
const maxUnread = 16_384

/** Must be called before the first chunk: in the listener of the request, or in front of it. */
export function mergeChunks(request: IncomingMessage): void {
  const { headers } = request
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
  const push = request.push.bind(request)
  const read = request._read.bind(request)
  const unread = new GrowingBuffer()
  let isWanted = false
  let isComplete = false
  const passOn = (): void => {
    isWanted = false
    if (unread.length > 0) push(unread.take())
    if (isComplete) push(null)
  }
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) isComplete = true
    else if (isWanted && unread.length === 0) {
      isWanted = false
      return push(chunk)
    } else unread.append(chunk)
    if (isWanted || (isComplete && unread.length === 0)) passOn()
    return unread.length + request.readableLength < maxUnread
  }
  request._read = (size) => {
    isWanted = true
    if (unread.length > 0 || isComplete) passOn()
    read(size)
  }
}
