/** A Dockerfile as data. Supports what this project's Dockerfile uses; anything else is an error. */

export interface Copy {
  readonly kind: 'copy'
  /** A stage, or undefined for the build context. */
  readonly from: string | undefined
  readonly sources: readonly string[]
  readonly target: string
}

export interface Run {
  readonly kind: 'run'
  readonly command: string
}

export interface Directory {
  readonly kind: 'directory'
  readonly path: string
}

/** In the order of the file, with what they are in it. */
export interface Stage {
  readonly name: string | undefined
  /** `node:26-slim`, which may end with a digest. */
  readonly image: string
  readonly steps: readonly (Copy | Run | Directory)[]
  readonly environment: Readonly<Record<string, string>>
  /** Variables of its commands, which the image does not keep. */
  readonly buildArguments: Readonly<Record<string, string>>
  readonly user: { readonly uid: number; readonly gid: number } | undefined
  readonly volumes: readonly string[]
  readonly ports: readonly number[]
  /** A program and its arguments. */
  readonly healthcheck: readonly string[]
  readonly command: readonly string[]
}

type Draft = { -readonly [K in keyof Stage]: Stage[K] }

/** Throws on anything that it does not support. `given`: build arguments in place of the defaults of the file. */
export function parseDockerfile(text: string, given: Readonly<Record<string, string>> = {}): readonly Stage[] {
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
  const stages: Draft[] = []
  const buildArguments = new Map<string, string>()
  for (const line of lines.map((raw) => raw.trim()).filter((trimmed) => trimmed !== '')) {
    const [, word = '', argument = ''] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? []
    if (word === 'ARG' && stages.length === 0) {
      const [, name = '', value = ''] = /^([A-Z_]+)=(\S+)$/.exec(argument) ?? unknown(line)
      buildArguments.set(name, given[name] ?? value)
    } else if (word === 'FROM')
      stages.push(newStage(argument.replace(/^\$\{([A-Z_]+)\}/, (_, name) => buildArguments.get(name) ?? unknown(line))))
    else take(stages.at(-1) ?? unknown(line), word, argument)
  }
  return stages
}

function newStage(argument: string): Draft {
  const [, image = '', name] = /^(\S+)(?: AS (\S+))?$/.exec(argument) ?? unknown(`FROM ${argument}`)
  return {
    ...{ name, image, steps: [], environment: {}, buildArguments: {}, user: undefined, volumes: [], ports: [] },
    ...{ healthcheck: [], command: [] },
  }
}

function take(stage: Draft, word: string, argument: string): void {
  const add = (step: Stage['steps'][number]): void => {
    stage.steps = [...stage.steps, step]
  }
  if (word === 'WORKDIR') add({ kind: 'directory', path: plain(argument) })
  else if (word === 'COPY') add(copy(argument))
  else if (word === 'RUN') add({ kind: 'run', command: relative(argument) })
  else if (word === 'ENV') stage.environment = { ...stage.environment, ...assignments(argument) }
  else if (word === 'ARG') stage.buildArguments = { ...stage.buildArguments, ...assignments(argument) }
  else if (word === 'USER') stage.user = user(argument)
  else if (word === 'VOLUME') stage.volumes = [...stage.volumes, plain(argument)]
  else if (word === 'EXPOSE') stage.ports = argument.split(/\s+/).map(Number)
  else if (word === 'HEALTHCHECK')
    stage.healthcheck = program(/^(?:--[a-z-]+=\S+\s+)*CMD\s+(\[.*\])$/.exec(argument)?.[1] ?? unknown(argument))
  else if (word === 'CMD') stage.command = program(argument)
  else unknown(`${word} ${argument}`)
}

function copy(argument: string): Copy {
  const [, from, paths = ''] = /^(?:--from=(\S+)\s+)?([^-].*)$/.exec(argument) ?? unknown(`COPY ${argument}`)
  const words = paths.split(/\s+/).map(plain)
  if (words.length < 2) unknown(`COPY ${argument}`)
  return { kind: 'copy', from, sources: words.slice(0, -1), target: words.at(-1) as string }
}

/** A command that names a path from the root cannot be carried out below a folder. */
function relative(command: string): string {
  return /(?:^|[\s='"])\//.test(command) || command.startsWith('[') ? unknown(`RUN ${command}`) : command
}

function assignments(argument: string): Record<string, string> {
  const pairs = argument.split(/\s+/).map((word) => /^([A-Z_]+)=([\w.:-]+)$/.exec(word) ?? unknown(`ENV ${argument}`))
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
}

function user(argument: string): Stage['user'] {
  const [, uid, gid] = /^(\d+):(\d+)$/.exec(argument) ?? unknown(`USER ${argument}`)
  return { uid: Number(uid), gid: Number(gid) }
}

function plain(path: string): string {
  return /^[\w./-]+$/.test(path) && !path.split('/').includes('..') ? path : unknown(path)
}

/** The exec form: so signals reach the program. */
function program(argument: string): readonly string[] {
  if (!argument.startsWith('[')) unknown(argument)
  return JSON.parse(argument) as readonly string[]
}

function unknown(argument: string): never {
  throw new Error(`Dockerfile: not known here: ${argument}`)
}
