/**
 * rolldown: joins the modules of the command, and those of the packages, in a few files, since most of what a start costs is reading
 * 1,000 of them. The package starts from these files; a clone runs the sources.
 */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'rolldown'

/**
 * Writes the program to `directory`, which is `dist/cli` of the package: its pages are beside it. `more`: further entries, by name.
 * `plugins`: what changes modules.
 */
export async function buildProgram(
  directory: string,
  more: Readonly<Record<string, string>> = {},
  plugins: Plugin[] = [],
): Promise<void> {
  await build({
    input: {
      command: 'src/cli/command.ts',
      terminal: 'src/cli/terminal.ts',
      'document-thread': 'src/config/document-thread.ts',
      ...more,
    },
    plugins,
    platform: 'node',
    logLevel: 'warn',
    output: { dir: directory, format: 'esm', chunkFileNames: '[name]-[hash].js' },
  })
  cpSync('src/operator/page', join(directory, 'page'), { recursive: true })
  cpSync('src/reference/browser', join(directory, 'browser'), { recursive: true })
}

if (import.meta.main) await buildProgram('dist/cli')
