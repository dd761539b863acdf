/** `swapgate init`: writes a first configuration (docs/contract-operators.md §13). It asks for what no option gives. */
import { accessSync, constants, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { type Command, InvalidArgumentError } from 'commander'
import { hasVariable, loadConfigInThread, newConfigFile, packagedConfigFile } from '../config/index.ts'
import { knownForms, providerForms } from '../forms/index.ts'
import { inspectLedger } from '../ledger/index.ts'
import { findProviderForm, type ProviderForm } from '../wire/provider-form.ts'
import { check } from './check.ts'
import { type ExitCode, messageOf } from './session.ts'
import { refuse, type Terminal } from './terminal.ts'
import { configOption, jsonOption, type Options, parsedBy } from './values.ts'

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
    .option('--secret <name>', 'the same of its secret, for a form that signs with one')
    .option('--port <port>', 'port of the gateway (default: 8080)')
    .option(
      '--setting <name=value>',
      'what the form needs beside the key; may be repeated',
      (text, before: InitFlags['setting']) => {
        const [name = '', value = ''] = asSetting(text)
        if (before && name in before) throw new InvalidArgumentError(`${name} is given twice.`)
        return { ...before, [name]: value }
      },
    )
    .option('--require-idempotency-key <yes|no>', 'whether each create must have an Idempotency-Key (default: yes)')
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
    const written = write(file, configurationText(answers, 'alpha'))
    const provider = await freeName(file)
    writeFileSync(file, configurationText(answers, provider))
    if (!(await isValid(file, written, terminal))) return refuse('nothing is written', terminal)
    if (json) terminal.done(JSON.stringify({ file, written, provider }))
    else for (const line of nextSteps(written, answers, provider, config)) terminal.done(line)
    return 0
  } catch (reason) {
    if (reason instanceof InvalidAnswer) return refuse(reason.message, terminal)
    if (isExisting(reason, 'open')) return refuse(`${file} exists: it is not overwritten`, terminal)
    return refuse(messageOf(reason), terminal)
  }
}

/** The name and the tag of the first provider: it is in the ids that clients get, so it does not name the provider. */
const firstNames = ['alpha', 'beta', 'gamma', 'delta'] as const

/** The first that the ledger does not know: of the default configuration it knows two, once that has run here. */
async function freeName(file: string): Promise<string> {
  try {
    const { ledger } = await loadConfigInThread(file, knownForms)
    const { tags = [] } = (await inspectLedger(ledger.url, firstNames)) ?? {}
    const known = tags.filter(({ url, isUsed }) => url !== undefined || isUsed).map(({ tag }) => tag)
    return firstNames.find((name) => !known.includes(name)) ?? firstNames[0]
  } catch {
    return firstNames[0] // the check of the file says why it is not valid
  }
}

/** Removes the files again if the configuration is not valid, and prints why. */
async function isValid(file: string, written: readonly string[], terminal: Terminal): Promise<boolean> {
  let exitCode: ExitCode = 1
  try {
    exitCode = await check(file, { json: false, live: false }, { ...terminal, out: () => {} })
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

function nextSteps(written: readonly string[], { mode }: Answers, provider: string, config: string | undefined): readonly string[] {
  const option = config === undefined ? '' : ` --config ${config}`
  return [
    `Written: ${written.join(', ')}.`,
    `Next: swapgate providers try ${provider}${option}`,
    ...(mode === 'managed' ? [`      swapgate keys create --name acme${option}`] : []),
    `      swapgate start${option}`,
  ]
}

/** The text of a configuration file. Everything that is not in it has its default. */
function configurationText(answers: Answers, provider: string): string {
  const { form, url, mode, key, secret, port, settings, forwardsAddress, requiresIdempotencyKey } = answers
  const quoted = (value: string): string => JSON.stringify(value)
  const named = Object.entries(settings).map(([name, value]) => `      ${quoted(name)}: ${quoted(value)}\n`)
  return `# Every key, with its default and its unit: docs/configuration.md.

server:
  host: "\${SWAPGATE_HOST:-127.0.0.1}"
  port: ${port}

# managed: clients use keys that you issue (swapgate keys create). passthrough: clients use their own keys at the provider.
auth:
  mode: ${mode}

# A client that repeats a create without an Idempotency-Key would make a second swap.
creates:
  requireIdempotencyKey: ${requiresIdempotencyKey}

ledger:
  url: "\${LEDGER_URL:-sqlite:data/swapgate.db}"

# The coins, networks and codes that clients see.
assets: assets.yaml

providers:
  # The name stands in the ids of its transactions: do not change it later.
  ${provider}:
    form: ${form}
    url: ${quoted(url)}
${key === '' ? '' : `    key: ${quoted(key)}\n`}${secret === '' ? '' : `    secret: ${quoted(secret)}\n`}${named.length === 0 ? '' : `    settings:\n${named.join('')}`}${forwardsAddress ? '    forwardAddress: true\n' : ''}
routing:
  providers: [${provider}]
`
}

// The questions of `swapgate init`, and what their answers must be.

/** Given as options: for these there is no prompt. */
interface InitFlags {
  readonly form?: string
  readonly url?: string
  readonly key?: string
  readonly secret?: string
  readonly mode?: string
  readonly port?: string
  readonly requireIdempotencyKey?: string
  readonly setting?: Readonly<Record<string, string>>
  readonly forwardAddress?: true
}

interface Answers {
  readonly form: string
  readonly url: string
  readonly mode: 'managed' | 'passthrough'
  /** A reference, never the key; empty: none. */
  readonly key: string
  /** The same of the secret. */
  readonly secret: string
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
  readonly forwardsAddress: boolean
  readonly requiresIdempotencyKey: boolean
}

const adminPort = 9_090
const variable = /^[A-Z_][A-Z0-9_]{0,63}$/

async function askAll(flags: InitFlags, ask: Ask): Promise<Answers> {
  const form = await ask({
    flag: '--form',
    given: flags.form,
    question: `Form of the provider's API: ${formNames()}`,
    parse: toForm,
  })
  const url = await ask({
    flag: '--url',
    given: flags.url,
    question: 'Its base URL, like https://provider.example/api/v2',
    parse: toUrl,
  })
  const mode = await ask({
    flag: '--mode',
    given: flags.mode,
    question: 'Keys of your clients: managed (you issue them) or passthrough (their own keys at the provider)',
    preset: 'managed',
    parse: (text) => toMode(text, form),
  })
  const needsKey = mode === 'managed' || form.keyed.has('getRate')
  const key = await ask({
    flag: '--key',
    given: flags.key,
    question: 'Where your key at the provider is: the name of an environment variable, or the path of a file. Not the key itself',
    ...(!needsKey && { preset: 'none' }),
    parse: (text) => (text === 'none' && !needsKey ? '' : toReference(text)),
  })
  const secret = form.credential.needsSecret
    ? await ask({
        flag: '--secret',
        given: flags.secret,
        question: 'Where the secret of that key is, in the same way. Not the secret itself',
        parse: toReference,
      })
    : ''
  const port = await ask({ flag: '--port', given: flags.port, question: 'Port of the gateway', preset: '8080', parse: toPort })
  const settings: Record<string, string> = { ...flags.setting }
  for (const name of form.settings)
    settings[name] = await ask({
      flag: `--setting ${name}=…`,
      given: flags.setting?.[name],
      question: `${name}, which a provider of this form needs`,
      parse: toText,
    })
  if (form.sendsAddress)
    await ask({
      flag: '--forward-address',
      given: flags.forwardAddress && 'yes',
      question: 'Whether the provider may get the address of each client, without which it serves none: yes',
      parse: toConsent,
    })
  const requiresIdempotencyKey = await ask({
    flag: '--require-idempotency-key',
    given: flags.requireIdempotencyKey,
    question: 'Whether a create must have an Idempotency-Key, so that no repeat makes a second swap: yes or no',
    preset: 'yes',
    parse: toYesOrNo,
  })
  return { form: form.name, url, mode, key, secret, port, settings, forwardsAddress: form.sendsAddress, requiresIdempotencyKey }
}

function formNames(): string {
  return providerForms.map(({ name }) => name).join(', ')
}

function toForm(text: string): ProviderForm {
  return findProviderForm(text, providerForms) ?? fail(`it must be one of ${formNames()}`)
}

function toUrl(text: string): string {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : fail('it must be an http or https URL')
}

/** Clients cannot send a signature. */
function toMode(text: string, { name, credential }: ProviderForm): Answers['mode'] {
  if (text === 'passthrough' && credential.isSignature) return fail(`it must be managed: calls of the form ${name} are signed`)
  return text === 'managed' || text === 'passthrough' ? text : fail('it must be managed or passthrough')
}

function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) fail('it must be an integer from 0 to 65535')
  return port === adminPort ? fail(`${adminPort} is the admin port`) : port
}

function toConsent(text: string): true {
  return text === 'yes' || fail('it must be yes: this form sends the address of each client')
}

function toYesOrNo(text: string): boolean {
  return text === 'yes' || (text === 'no' ? false : fail('it must be yes or no'))
}

function toText(text: string): string {
  return text === '' ? fail('it must not be empty') : text
}

/** What is neither a variable that is set nor a file that can be read may be the key itself. */
function toReference(text: string): string {
  if (variable.test(text) && hasVariable(text)) return `\${${text}}`
  const file = resolve(text)
  try {
    if (text === '' || file.includes('}')) throw new Error('no file')
    accessSync(file, constants.R_OK)
    return `\${file:${file}}`
  } catch {
    return fail('it must be the name of an environment variable that is set, or of a file that can be read')
  }
}

function fail(message: string): never {
  throw new InvalidAnswer(message)
}

// Asks questions on standard error and reads a line for each from standard input: so they can be piped.

/** An invalid answer. The message never repeats it: it may be a key. */
export class InvalidAnswer extends Error {}

interface Question<T> {
  readonly question: string
  /** The option that answers it. */
  readonly flag: string
  readonly given: string | undefined
  /** The answer of an empty line, or of no line. */
  readonly preset?: string
  /** Throws an `InvalidAnswer`. */
  readonly parse: (text: string) => T
}

type Ask = <T>(question: Question<T>) => Promise<T>

interface Prompt extends AsyncDisposable {
  readonly ask: Ask
}

/** On a terminal the prompt is repeated after an invalid answer; elsewhere it ends the command. Throws an `InvalidAnswer`. */
export function openPrompt(input: Readable & { readonly isTTY?: boolean }, print: (line: string) => void): Prompt {
  const lines = createInterface({ input, terminal: false })
  const answers = lines[Symbol.asyncIterator]()
  const ask: Ask = async ({ question, flag, given, preset, parse }) => {
    const parsed = (text: string) => {
      try {
        return parse(text)
      } catch (reason) {
        throw reason instanceof InvalidAnswer ? new InvalidAnswer(`${flag}: ${reason.message}`) : reason
      }
    }
    if (given !== undefined) return parsed(given)
    for (;;) {
      print(`${question}${preset === undefined ? '' : ` [${preset}]`}:`)
      const { value, done = false } = await answers.next()
      const text = done ? '' : String(value).trim()
      if (done && preset === undefined) throw new InvalidAnswer(`${flag} is missing`)
      try {
        return parsed(text === '' && preset !== undefined ? preset : text)
      } catch (reason) {
        if (!(reason instanceof InvalidAnswer) || !input.isTTY || done) throw reason
        print(reason.message)
      }
    }
  }
  return {
    ask,
    async [Symbol.asyncDispose]() {
      lines.close()
      input.destroy()
    },
  }
}
