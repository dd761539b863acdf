/**
 * Carries out a Dockerfile without a container engine: each stage in a folder of its own, which stands for the image's
 * root. Paths lie below that folder, the context is read through `.dockerignore`, and Node is this process's own.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, delimiter, join, matchesGlob, relative, resolve } from 'node:path'
import { type Copy, parseDockerfile, type Stage } from './container/dockerfile.ts'

/** What the last stage leaves. */
export interface Image {
  readonly root: string
  /** The working directory, below `root`. */
  readonly directory: string
  /** The whole environment of its processes. */
  readonly environment: Readonly<Record<string, string>>
  readonly stage: Stage
}

/** Reads `context/Dockerfile`; `folder` is empty and keeps every stage. */
export function buildImage(context: string, folder: string): Image {
  const stages = parseDockerfile(readFileSync(join(context, 'Dockerfile'), 'utf8'))
  const keeps = ignoring(context)
  const built = new Map<string, string>()
  chmodSync(folder, 0o755)
  const images = stages.map((stage, at) => {
    const root = join(folder, stage.name ?? String(at))
    const image = buildStage(stage, root, (copy) => sourceOf(copy, context, built, keeps))
    if (stage.name !== undefined) built.set(stage.name, root)
    return image
  })
  return images.at(-1) ?? fail('Dockerfile: it has no stage')
}

interface Source {
  readonly folder: string
  readonly keeps: (path: string) => boolean
}

function sourceOf({ from }: Copy, context: string, built: ReadonlyMap<string, string>, keeps: Source['keeps']): Source {
  if (from === undefined) return { folder: context, keeps }
  return { folder: built.get(from) ?? fail(`Dockerfile: no stage ${from} before this one`), keeps: () => true }
}

function buildStage(stage: Stage, root: string, sourceFor: (copy: Copy) => Source): Image {
  installNode(stage.image, root)
  const path = [join(root, 'usr/local/bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)
  const environment = { PATH: path, ...stage.environment }
  let directory = root
  for (const step of stage.steps) {
    if (step.kind === 'directory') {
      directory = below(root, directory, step.path)
      mkdirSync(directory, { recursive: true })
    } else if (step.kind === 'copy') copy(step, sourceFor(step), root, directory)
    else run(step.command, directory, { ...fromOutside(), ...stage.buildArguments, ...environment })
  }
  return { root, directory, environment, stage }
}

/** The official image is Node on a small system; npm is the machine's. */
function installNode(image: string, root: string): void {
  const [major] = process.versions.node.split('.')
  if (image.replace(/@sha256:[0-9a-f]{64}$/, '') !== `node:${major}-slim`)
    fail(`Dockerfile: ${image} is not the image of this Node ${major}`)
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true })
  copyFileSync(process.execPath, join(root, 'usr/local/bin/node'))
}

function copy({ sources, target }: Copy, { folder, keeps }: Source, root: string, directory: string): void {
  const destination = below(root, directory, target)
  for (const sourcePath of sources) {
    const source = join(folder, sourcePath)
    if (!keeps(sourcePath)) fail(`Dockerfile: COPY ${sourcePath}: .dockerignore leaves it out`)
    const into = statSync(source).isDirectory() ? destination : join(destination, basename(source))
    cpSync(source, into, { recursive: true, verbatimSymlinks: true, filter: (path) => keeps(relative(folder, path)) })
  }
}

/** A user that may not change the owner of files stands for their owner. */
function run(command: string, directory: string, env: Readonly<Record<string, string>>): void {
  const own = `${process.getuid?.()}:${process.getgid?.()}`
  const text = process.getuid?.() === 0 ? command : command.replaceAll(/\b\d+:\d+\b/g, own)
  execFileSync('/bin/sh', ['-c', text], { cwd: directory, env, stdio: ['ignore', 'ignore', 'inherit'] })
}

const fromMachine = /^(?:HOME|npm_config_(?:registry|cache|userconfig)|\w+_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR))$/i

/** What a build may use of the machine: the registry, its certificates, and npm's cache. */
function fromOutside(): Record<string, string> {
  const known = Object.entries(process.env).filter(([name]) => fromMachine.test(name)) as [string, string][]
  const npm = { npm_config_prefer_offline: 'true', npm_config_loglevel: 'error' }
  return { ...Object.fromEntries(known), NODE_USE_SYSTEM_CA: '1', ...npm }
}

function below(root: string, directory: string, path: string): string {
  return path.startsWith('/') ? join(root, path) : resolve(directory, path)
}

/** Whether `.dockerignore` lets a path of the context in. */
function ignoring(context: string): (path: string) => boolean {
  const patterns = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n').filter(Boolean)
  const odd = patterns.find((pattern) => /^[!#/]/.test(pattern))
  if (odd !== undefined) fail(`.dockerignore: not known here: ${odd}`)
  return (path) => {
    const parts = path.split('/')
    const folders = parts.map((_, at) => parts.slice(0, at + 1).join('/'))
    return !folders.some((folder) => patterns.some((pattern) => matchesGlob(folder, pattern)))
  }
}

function fail(message: string): never {
  throw new Error(message)
}
