/** The memory and open files of a gateway, from its metrics. */
export interface ProcessUsage {
  /** Megabytes. */
  readonly memory: number
  /** Open files and sockets. */
  readonly files: number
}

export function usageOf(metrics: string): ProcessUsage {
  return {
    memory: Math.round(Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]) / 2 ** 20),
    files: Number(/^process_open_fds (\S+)$/m.exec(metrics)?.[1]),
  }
}
