/** node:buffer: joins chunks as they come. A list of them needs about 250 bytes for each, also for a chunk of one byte. */
export class GrowingBuffer {
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
