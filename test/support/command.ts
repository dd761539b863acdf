/** The commands of `swapgate`, run in this process: one of their own would cost more than what they do. */
import { Readable } from 'node:stream'
import { run } from '../../src/cli/command.ts'

export interface CommandResult {
  readonly exitCode: number
  /** Lines. */
  readonly out: readonly string[]
  readonly err: readonly string[]
}

/** From this line on nothing is written. */
export interface Loss {
  readonly fromLine: number
  /** By default a full disk. */
  readonly code?: 'ENOSPC' | 'EPIPE'
}

/** `lines`: its input. */
export async function runCommand(args: readonly string[], lines: readonly string[] = [], lost?: Loss): Promise<CommandResult> {
  const out: string[] = []
  const err: string[] = []
  let reason: NodeJS.ErrnoException | undefined
  const write = (): boolean => {
    if (lost && out.length >= lost.fromLine)
      reason ??= Object.assign(new Error(`${lost.code ?? 'ENOSPC'}: write`), { code: lost.code ?? 'ENOSPC' })
    return reason === undefined
  }
  const exitCode = await run(args, {
    isTerminal: false,
    out: (line) => write() && out.push(line),
    err: (line) => err.push(line),
    async stream(more) {
      for await (const line of more) out.push(line)
    },
    loss: async () => reason,
    begin: write,
    input: () => Readable.from(lines.map((line) => `${line}\n`)),
  })
  return { exitCode, out, err }
}

/** The JSON document that the command prints over that configuration, also if it found something (1). Throws what it complains of. */
export async function commandOver(file: string, args: readonly string[]): Promise<unknown> {
  const { exitCode, out, err } = await runCommand([...args, '--config', file, '--json'])
  if (exitCode !== 0 && out.length === 0) throw new Error(`swapgate ${args.join(' ')} ended with ${exitCode}: ${err.join('\n')}`)
  return JSON.parse(out.join('\n'))
}
