/** node:http: reads a body as text. Enforces the limit while it reads; libraries read the whole body first. */
import type { IncomingMessage } from 'node:http'
import { Fault } from '../../domain/fault.ts'
import { GrowingBuffer } from './growing-buffer.ts'

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
    if (request.readableDidRead) return reject(alreadyRead())
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

/** Something in front has taken the body: only the operator can change that. */
function alreadyRead(): Fault {
  const cause = new Error('The body was read before the gateway: mount the gateway in front of every body parser.')
  return new Fault('internal', 'Internal error; please report the X-Request-Id.', { cause })
}

function tooLarge(maxBytes: number): Fault {
  return new Fault('tooLarge', `The body must have at most ${maxBytes} bytes.`)
}
