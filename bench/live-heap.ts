/** The live heap of a running process: its size after a full collection, read through the inspector of Node. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'

interface Target {
  readonly webSocketDebuggerUrl: string
}

/** Megabytes; the process has been started with `--inspect-port` of this port. */
export async function liveHeap(child: ChildProcess, port: number): Promise<number> {
  child.kill('SIGUSR1')
  const socket = new WebSocket((await target(port)).webSocketDebuggerUrl)
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  await sendCommand(socket, 1, 'HeapProfiler.collectGarbage')
  const { usedSize } = (await sendCommand(socket, 2, 'Runtime.getHeapUsage')) as { readonly usedSize: number }
  socket.close()
  return usedSize / 2 ** 20
}

/** The inspector opens a moment after the signal. */
async function target(port: number): Promise<Target> {
  for (let tries = 0; tries < 50; tries++) {
    try {
      const [first] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as readonly Target[]
      if (first) return first
    } catch {}
    await wait(100)
  }
  throw new Error(`no inspector at port ${port}`)
}

function sendCommand(socket: WebSocket, id: number, method: string): Promise<unknown> {
  return new Promise((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const response = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown }
      if (response.id === id) resolve(response.result)
    })
    socket.send(JSON.stringify({ id, method }))
  })
}
