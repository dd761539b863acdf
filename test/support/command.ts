/** The commands of `swapgate`, run in this process: one of their own would cost more than what they do. */
import { run } from '../../src/cli/command.ts'

/** The JSON document that the command prints over that configuration. Throws what it complains of. */
export async function commandOver(file: string, args: readonly string[]): Promise<unknown> {
  const out: string[] = []
  const err: string[] = []
  const stream = async (lines: AsyncIterable<string>): Promise<void> => {
    for await (const line of lines) out.push(line)
  }
  const terminal = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line), stream }
  const exitCode = await run([...args, '--config', file, '--json'], terminal)
  if (exitCode !== 0) throw new Error(`swapgate ${args.join(' ')} ended with ${exitCode}: ${err.join('\n')}`)
  return JSON.parse(out.join('\n'))
}
