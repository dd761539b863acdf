/** `swapgate init`: writes a first configuration (docs/contract.md §13). */
import { constants, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { newConfigFile, packagedConfigFile } from '../../config/index.ts'
import { check } from '../check.ts'
import { configOption, jsonOption, type Options, parsedBy } from '../option.ts'
import { type ExitCode, messageOf } from '../session.ts'
import { refuse, type Terminal } from '../terminal.ts'
import { type Answers, askAll, type InitFlags } from './answers.ts'
import { InvalidAnswer, openPrompt } from './ask.ts'
import { configurationText, firstProvider } from './document.ts'

interface InitOptions extends Options, InitFlags {}

const asSetting = parsedBy((text) => /^([^=]+)=(.+)$/.exec(text)?.slice(1), 'like affiliateId=abc')

export function addInit(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  program
    .command('init')
    .description('write a first configuration; asks on standard error for what no option gives')
    .option('--form <form>', "form of the provider's API")
    .option('--url <url>', 'base URL of the provider')
    .option('--mode <mode>', 'managed (default) or passthrough')
    .option('--key <name>', 'environment variable or file that has your key at the provider; never the key itself')
    .option('--port <port>', 'port of the gateway (default: 8080)')
    .option(
      '--setting <name=value>',
      'what the form needs beside the key; may be repeated',
      (text, before: InitFlags['setting']) => {
        const [name = '', value = ''] = asSetting(text)
        return { ...before, [name]: value }
      },
    )
    .option('--forward-address', 'allow a provider that needs it to get the address of each client')
    .option(...configOption)
    .option(...jsonOption)
    .action(async (options: InitOptions) => end(await init(options, terminal)))
}

async function init({ config, json = false, ...flags }: InitOptions, terminal: Terminal): Promise<ExitCode> {
  const file = newConfigFile(config)
  if (existsSync(file)) return refuse(`${file} exists: it is not overwritten`, terminal)
  try {
    await using prompt = openPrompt(terminal.input(), terminal.err)
    const answers = await askAll(flags, prompt.ask)
    const written = write(file, configurationText(answers))
    if (!(await isValid(file, written, terminal))) return refuse('nothing is written', terminal)
    if (json) terminal.out(JSON.stringify({ file, written, provider: firstProvider }))
    else for (const line of nextSteps(written, answers, config)) terminal.out(line)
    return 0
  } catch (reason) {
    if (reason instanceof InvalidAnswer) return refuse(reason.message, terminal)
    if (isExisting(reason, 'open')) return refuse(`${file} exists: it is not overwritten`, terminal)
    return refuse(messageOf(reason), terminal)
  }
}

/** Removes the files again if the configuration is not valid, and prints why. */
async function isValid(file: string, written: readonly string[], terminal: Terminal): Promise<boolean> {
  let exitCode: ExitCode = 1
  try {
    exitCode = await check(file, { json: false }, { ...terminal, out: () => {} })
  } finally {
    if (exitCode !== 0) for (const path of written) rmSync(path)
  }
  return exitCode === 0
}

/** The files that it wrote: the configuration, and the shipped asset table if there is none beside it. */
function write(file: string, text: string): readonly string[] {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { flag: 'wx' })
  const table = join(dirname(file), 'assets.yaml')
  try {
    copyFileSync(join(dirname(packagedConfigFile), 'assets.yaml'), table, constants.COPYFILE_EXCL)
    return [file, table]
  } catch (reason) {
    if (isExisting(reason, 'copyfile')) return [file]
    rmSync(file)
    throw reason
  }
}

/** `call`: of the operating system. */
function isExisting(reason: unknown, call: 'open' | 'copyfile'): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'EEXIST' && 'syscall' in reason && reason.syscall === call
}

function nextSteps(written: readonly string[], { mode }: Answers, config: string | undefined): readonly string[] {
  const option = config === undefined ? '' : ` --config ${config}`
  return [
    `Written: ${written.join(', ')}.`,
    `Next: swapgate providers try ${firstProvider}${option}`,
    ...(mode === 'managed' ? [`      swapgate keys create --name acme${option}`] : []),
    `      swapgate start${option}`,
  ]
}
