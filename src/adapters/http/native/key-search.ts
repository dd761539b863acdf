/** node:zlib: finds a configured key in a body that streams by, also one that two chunks share or that is compressed. */
import { Transform, type TransformCallback } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { standardFault } from '../../../domain/fault.ts'
import type { KeySearch } from '../../../wire/native.ts'

/** More is not decoded: a few bytes may become gigabytes. */
const maxDecodedBytes = 256 * 1_048_576

type Create = (firstByte: number) => Transform

const decoders: ReadonlyMap<string, Create> = new Map<string, Create>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  // With the header of zlib, as RFC 9110 has it, or without, as some servers send it.
  ['deflate', (firstByte) => ((firstByte & 15) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress()],
])

/**
 * Passes the body on as it is. Fails with a `Fault` before it passes the end of a key. An unknown coding is searched as it is; several
 * in turn are refused, since nobody asked for one.
 */
export function searchedForKeys(contentEncoding: string | undefined, keys: KeySearch): Transform {
  const search = new Search(keys)
  const codings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
  if (codings.length > 1) throw standardFault('failed')
  const create = decoders.get(codings[0] ?? '')
  return create ? throughDecoder(create, search) : plain(search)
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
function throughDecoder(create: Create, search: Search): Transform {
  let decoder: Transform | undefined
  let isFound = false
  let isBroken = false
  let decodedBytes = 0
  let release: (() => void) | undefined
  const stop = (): void => {
    isBroken = true
    release?.()
  }
  const begin = (firstByte: number): Transform => {
    const begun = create(firstByte)
    begun.on('data', (decoded: Buffer) => {
      decodedBytes += decoded.length
      isFound ||= decodedBytes > maxDecodedBytes || search.finds(decoded)
      if (isFound) begun.destroy()
    })
    return begun.on('error', stop).on('close', stop)
  }
  return new Transform({
    transform(chunk: Buffer, _, done: TransformCallback) {
      release = () => {
        release = undefined
        if (isFound) done(standardFault('failed'))
        else done(null, chunk)
      }
      if (isBroken) return release()
      decoder ??= begin(chunk[0] ?? 0)
      decoder.write(chunk, () => setImmediate(() => release?.()))
    },
    destroy(reason, done) {
      decoder?.destroy()
      done(reason)
    },
  })
}
