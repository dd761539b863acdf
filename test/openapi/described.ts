/** ajv: compares each exchange with a description: its path, parameters, headers, bodies, credential and status. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import type { ReceivedResponse, RequestOptions } from '../support/client.ts'
import { closed } from '../support/openapi-check.ts'
import type { Witness } from '../support/witness.ts'

interface Violations {
  readonly request: readonly string[]
  readonly response: readonly string[]
}

type Send = Pick<Witness, 'sendRequest'>
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** A part of the description, and where it is. */
interface Part {
  readonly pointer: string
  readonly value: Value
}

interface Value {
  readonly [name: string]: unknown
  readonly content?: object
  readonly headers?: object
  readonly parameters?: readonly object[]
  readonly security?: readonly object[]
}

interface Parameter {
  readonly name: string
  readonly in: 'header' | 'path' | 'query'
  readonly required?: boolean
}

const found = new WeakMap<ReceivedResponse, Violations>()
const jsonType = 'application/json'

/** What sends like `witness` below the base URL, and compares each exchange with the description in that file. */
export function describedBy(file: string, base: string, witness: Send): Send {
  const description = new Description(JSON.parse(readFileSync(file, 'utf8'), closed) as Value)
  const { pathname } = new URL(base)
  return {
    sendRequest: async (url, options) => {
      const response = await witness.sendRequest(url, options)
      found.set(response, description.compare({ ...options, path: options.path.slice(pathname.length) }, response))
      return response
    },
  }
}

class Description {
  private readonly document: Value
  private readonly json = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  /** Of parameters and headers, which are all texts. */
  private readonly text = new Ajv2020({ strict: false, validateFormats: false, allErrors: true, coerceTypes: true })

  constructor(document: Value) {
    this.document = document
    for (const ajv of [this.json, this.text]) ajv.addSchema(document, 'openapi')
  }

  compare({ method = 'GET', path, headers = {}, body }: RequestOptions, response: ReceivedResponse): Violations {
    const [plain = '', query = ''] = path.split('?')
    const paths = this.at('#/paths')
    const pattern = Object.keys(paths.value).find((candidate) => pathValues(candidate, plain))
    const operation = pattern === undefined ? undefined : this.in(paths, pattern, method.toLowerCase())
    if (pattern === undefined || !operation) return { request: [`${method} ${plain} is not described`], response: [] }
    const texts = { path: pathValues(pattern, plain) ?? {}, query: Object.fromEntries(new URLSearchParams(query)), header: headers }
    return {
      request: [
        ...this.credentialViolations(operation, headers),
        ...this.parameterViolations(operation, texts),
        ...this.bodyViolations(this.in(operation, 'requestBody'), headers, String(body ?? '')),
      ],
      response: this.responseViolations(operation, response),
    }
  }

  private responseViolations(operation: Part, { status, headers, text }: ReceivedResponse): readonly string[] {
    const response = this.in(operation, 'responses', String(status))
    if (!response) return [`${status} is not described`]
    const described = Object.keys(response.value.headers ?? {}).flatMap((name) =>
      this.textViolations(this.in(response, 'headers', name), name, headers[name.toLowerCase()]),
    )
    return [...described, ...this.bodyViolations(response, headers, text)]
  }

  private credentialViolations({ value: { security = [] } }: Part, headers: Headers): readonly string[] {
    const { type, name = 'authorization' } = this.at('#/components/securitySchemes/key').value
    const given = String(headers[String(name).toLowerCase()] ?? headers[String(name)] ?? '')
    const isGiven = type === 'http' ? given.startsWith('Bearer ') : given !== ''
    return isGiven || security.some((way) => Object.keys(way).length === 0) ? [] : ['no credential']
  }

  private parameterViolations(operation: Part, texts: Readonly<Record<Parameter['in'], Headers>>): readonly string[] {
    const parameters = (operation.value.parameters ?? []).map((_, at) => this.at(`${operation.pointer}/parameters/${at}`))
    const known = new Set<string>()
    const violations = parameters.flatMap((part) => {
      const { name, in: place, required = false } = part.value as unknown as Parameter
      known.add(`${place} ${name}`)
      const text = texts[place][place === 'header' ? name.toLowerCase() : name]
      return text === undefined && required ? [`no ${name}`] : this.textViolations(part, name, text)
    })
    const unknown = Object.keys(texts.query).filter((name) => !known.has(`query ${name}`))
    return [...violations, ...unknown.map((name) => `${name} is not described`)]
  }

  private textViolations(part: Part | undefined, name: string, text: unknown): readonly string[] {
    return part && text !== undefined
      ? this.valueViolations(this.text, `${part.pointer}/schema`, text).map((why) => name + why)
      : []
  }

  /** Of a request or of a response. */
  private bodyViolations(part: Part | undefined, headers: Headers, text: string): readonly string[] {
    if (!part?.value.content) return text === '' ? [] : ['a body']
    const [type] = String(headers['content-type']).split(';')
    if (type !== jsonType) return [`content type ${type}`]
    return this.valueViolations(this.json, `${part.pointer}/content/${escaped(jsonType)}/schema`, JSON.parse(text))
  }

  private valueViolations(ajv: Ajv2020, pointer: string, value: unknown): readonly string[] {
    const validate = ajv.getSchema(`openapi${pointer}`)
    if (!validate) throw new Error(`The description has no ${pointer}.`)
    return validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`)
  }

  private in(part: Part, ...names: readonly string[]): Part | undefined {
    const pointer = [part.pointer, ...names.map(escaped)].join('/')
    return this.find(pointer)
  }

  private at(pointer: string): Part {
    const part = this.find(pointer)
    if (!part) throw new Error(`The description has no ${pointer}.`)
    return part
  }

  /** Also where a reference leads. */
  private find(pointer: string): Part | undefined {
    const names = pointer.split('/').slice(1)
    const value = names.reduce<unknown>((of, name) => (of as Value | undefined)?.[unescaped(name)], this.document) as
      | Value
      | undefined
    if (typeof value?.$ref === 'string') return this.find(value.$ref)
    return value && { pointer, value }
  }
}

/** The values of the path's parameters; undefined for another path. */
function pathValues(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const expression = new RegExp(`^${pattern.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
  const match = expression.exec(path)
  return match ? { ...match.groups } : undefined
}

function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function unescaped(name: string): string {
  return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Where the exchange of a response violates the description. */
export function violations(response: ReceivedResponse, where: keyof Violations): readonly string[] {
  const of = found.get(response)
  if (!of) throw new Error('This exchange was compared with no description.')
  return of[where]
}

/** The response is as described. */
export function expectDescribed(response: ReceivedResponse, context: string): void {
  expect(violations(response, 'response'), `${context}: ${response.status} ${response.text}`).toEqual([])
}
