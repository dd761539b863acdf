/** The memory of a gateway, from its metrics. */
export interface Figure {
  /** Megabytes. */
  readonly memory: number
  /** Files and sockets that are open. */
  readonly files: number
}

export function figureOf(metrics: string): Figure {
  return {
    memory: Math.round(Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]) / 2 ** 20),
    files: Number(/^process_open_fds (\S+)$/m.exec(metrics)?.[1]),
  }
}
