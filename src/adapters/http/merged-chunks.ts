/** node:http: a body that is not read yet is kept in one piece. Node keeps each chunk, and 65,536 of one byte take 16 MB. */
import type { IncomingMessage } from 'node:http'
import { GrowingBuffer } from './growing-buffer.ts'

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
