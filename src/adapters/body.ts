/** A request's body as text: bounded, not compressed, UTF-8 and nothing else. */
import express, { type Request, type Response } from 'express'
import { Fault } from '../domain/fault.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export async function readBody(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request, maxBytes)
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new Fault('invalid', 'The body must be UTF-8.', { cause })
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const parse = express.raw({ type: () => true, limit: maxBytes, inflate: false })
  const failure = await new Promise<unknown>((resolve) => parse(request, {} as Response, resolve))
  if (failure !== undefined) throw toFault(failure, maxBytes)
  return Buffer.isBuffer(request.body) ? request.body : new Uint8Array()
}

function toFault(reason: unknown, maxBytes: number): Fault {
  const { type, status } = reason as { readonly type?: string; readonly status?: number }
  if (type === 'entity.too.large') return new Fault('tooLarge', `The body must have at most ${maxBytes} bytes.`, { cause: reason })
  if (status === 415) return new Fault('unsupportedMediaType', 'The body must not be compressed.', { cause: reason })
  return new Fault('invalid', 'The body could not be read.', { cause: reason })
}
