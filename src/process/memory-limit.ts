/** How much memory the process may use, and how much of it its caches. */
import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { limitCaches } from '../domain/bounded-map.ts'

/** The part of the memory for caches: the rest is for requests, and for what the caches are made from. */
const cachePart = 1 / 4

/** Bytes: the least of V8's heap limit, the container's limit and the machine's memory. */
export function memoryLimit(): number {
  const machine = totalmem()
  return Math.min(getHeapStatistics().heap_size_limit, process.constrainedMemory() || machine, machine)
}

export function limitCacheMemory(): void {
  limitCaches(memoryLimit() * cachePart)
}
