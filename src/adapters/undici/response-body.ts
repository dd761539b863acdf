/** node:buffer: collects the bytes of a response. */
import { Buffer } from 'node:buffer'

const firstBytes = 4_096
const noBytes = Buffer.alloc(0)

/**
 * Copies the bytes, since each chunk is a slice that keeps its 64 KiB read buffer alive: a response that arrives byte by byte
 * would take thousands of times its size.
 */
export class ResponseBytes {
  /** The only chunk so far; most responses have one. */
  private only: Buffer | undefined
  private bytes: Buffer = noBytes
  private length = 0

  add(chunk: Buffer): void {
    if (this.length === 0 && this.only === undefined) {
      this.only = chunk
      return
    }
    if (this.only) {
      const { only } = this
      this.only = undefined
      this.append(only)
    }
    this.append(chunk)
  }

  whole(): Buffer {
    return this.only ?? this.bytes.subarray(0, this.length)
  }

  private append(chunk: Buffer): void {
    const needed = this.length + chunk.length
    if (needed > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length, firstBytes))
      this.bytes.copy(grown, 0, 0, this.length)
      this.bytes = grown
    }
    chunk.copy(this.bytes, this.length)
    this.length = needed
  }
}
