/** node:zlib: finds a configured key in a body that streams by, also one that two chunks share or that is compressed. */
import { Transform, type TransformCallback } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { standardFault } from '../../../domain/faults/standard-fault.ts'
import type { KeySearch } from '../../../wire/native.ts'

/** More is not decoded: a few bytes may become gigabytes. */
const maxDecodedBytes = 256 * 1_048_576

const decoders = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress }

/** Passes the body on as it is. Fails with a `Fault` before it passes the end of a key. An unknown coding is searched as it is. */
export function searchedForKeys(contentEncoding: string | undefined, keys: KeySearch): Transform {
  const search = new Search(keys)
  const create = decoders[(contentEncoding ?? '').toLowerCase() as keyof typeof decoders] as (() => Transform) | undefined
  return create ? throughDecoder(create(), search) : plain(search)
}

/** The end of what was read is kept, so that a key may be in two chunks. */
class Search {
  private readonly keys: KeySearch
  private end = ''

  constructor(keys: KeySearch) {
    this.keys = keys
  }

  finds(chunk: Buffer): boolean {
    const text = this.end + chunk.toString('latin1')
    this.end = text.slice(Math.max(0, text.length - this.keys.longestKey + 1))
    return this.keys.containsLongKey(text)
  }
}

function plain(search: Search): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (search.finds(chunk)) done(standardFault('failed'))
      else done(null, chunk)
    },
  })
}

/** Each chunk waits until it is decoded. A body that cannot be decoded is passed on: the client cannot decode it either. */
function throughDecoder(decoder: Transform, search: Search): Transform {
  let isFound = false
  let isBroken = false
  let decodedBytes = 0
  let release: (() => void) | undefined
  decoder.on('data', (decoded: Buffer) => {
    decodedBytes += decoded.length
    isFound ||= decodedBytes > maxDecodedBytes || search.finds(decoded)
    if (isFound) decoder.destroy()
  })
  const stop = (): void => {
    isBroken = true
    release?.()
  }
  decoder.on('error', stop).on('close', stop)
  return new Transform({
    transform(chunk: Buffer, _, done: TransformCallback) {
      release = () => {
        release = undefined
        if (isFound) done(standardFault('failed'))
        else done(null, chunk)
      }
      if (isBroken) release()
      else decoder.write(chunk, () => setImmediate(() => release?.()))
    },
    destroy(reason, done) {
      decoder.destroy()
      done(reason)
    },
  })
}
