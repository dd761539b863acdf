/** Faults of a network on a stream of bytes, as in Toxiproxy. The eighth, `down`, is a function of the proxy. */

/** One direction of one connection, as a toxic handles it. */
export interface Flow {
  /** Ends sooner where the toxic is lifted or the connection is over: then true. */
  readonly wait: (milliseconds: number) => Promise<boolean>
  /** Ends both sides with a FIN; what was passed on still arrives. */
  readonly close: () => void
  /** Ends both sides with an RST. */
  readonly reset: () => void
}

interface Treatment {
  /** What becomes of the next piece. Pieces come in order, the next one when this one is through. */
  readonly piece?: (bytes: Buffer) => AsyncIterable<Buffer>
  /** Runs before the end of the stream is passed on. */
  readonly end?: () => Promise<unknown>
}

/** Begins anew for each direction of each connection. */
export type Toxic = (flow: Flow) => Treatment

/** Each piece comes so much later, give or take the jitter. `random` is from 0 to 1. */
export function latency(milliseconds: number, jitter = 0, random = Math.random): Toxic {
  return ({ wait }) => ({
    async *piece(bytes) {
      await wait(milliseconds + jitter * (2 * random() - 1))
      yield bytes
    },
  })
}

/** At most so many bytes a second, a twentieth of them at a time. */
export function bandwidth(bytesPerSecond: number): Toxic {
  const share = Math.max(1, Math.floor(bytesPerSecond / 20))
  return ({ wait }) => ({
    async *piece(bytes) {
      for (const part of cut(bytes, share)) {
        await wait((part.length * 1000) / bytesPerSecond)
        yield part
      }
    },
  })
}

/** The end comes so much later. */
export function slowClose(milliseconds: number): Toxic {
  return ({ wait }) => ({ end: () => wait(milliseconds) })
}

/** Nothing comes through, and the connection ends after so long; 0 holds it for ever. Once lifted, what was held comes. */
export function timeout(milliseconds: number): Toxic {
  return ({ wait, close }) => ({
    async *piece(bytes) {
      const isLifted = await wait(milliseconds === 0 ? Number.POSITIVE_INFINITY : milliseconds)
      if (isLifted) yield bytes
      else close()
    },
  })
}

/** Once bytes come in this direction, the connection is reset after so long instead of passing them on. */
export function resetPeer(milliseconds = 0): Toxic {
  return ({ wait, reset }) => ({
    // biome-ignore lint/correctness/useYield: nothing comes through.
    async *piece() {
      await wait(milliseconds)
      reset()
    },
  })
}

/** Small pieces with a pause after each. */
export function slicer(size: number, pause = 0): Toxic {
  return ({ wait }) => ({
    async *piece(bytes) {
      for (const part of cut(bytes, size)) {
        yield part
        await wait(pause)
      }
    },
  })
}

/** The connection ends after so many bytes in this direction. */
export function limitData(most: number): Toxic {
  return ({ close }) => {
    let left = most
    return {
      async *piece(bytes) {
        const part = bytes.subarray(0, left)
        left -= part.length
        if (part.length > 0) yield part
        if (left === 0) close()
      },
    }
  }
}

function cut(bytes: Buffer, size: number): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}
