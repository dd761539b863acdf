/** The thread in which a document is parsed: an odd one takes seconds, or the whole stack. */
import { parentPort, workerData } from 'node:worker_threads'
import { parse } from './document.ts'

parentPort?.postMessage(parse(...(workerData as Parameters<typeof parse>)))
