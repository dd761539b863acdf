/** Each form describes itself, and the description is served beside it. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { isBech32 } from '../../src/domain/address/encoding.ts'
import { ops } from '../../src/domain/service.ts'
import { openApi } from '../../src/edges/openapi/document.ts'
import { bodyNames } from '../../src/edges/openapi/schemas.ts'
import { forms } from '../../src/forms/index.ts'
import { formC } from '../form-c/c.ts'
import { startGateway as startThree } from '../form-c/gateway.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { formNames, type Pair, startPair } from '../support/pair.ts'

interface Schema {
  readonly type?: unknown
  readonly additionalProperties?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

interface Described {
  readonly responses: object
  readonly requestBody?: { readonly content: { readonly 'application/json': { schema: { $ref: string }; example: unknown } } }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>>; readonly securitySchemes: { readonly key: object } }
}

const read = (form: (typeof forms)[number]): Document => JSON.parse(openApi(form)) as Document

describe.each([...forms, formC])('form $name', (form) => {
  const { paths, components } = read(form)

  it('has every operation with its status, every field of a request and of a response', () => {
    for (const op of ops) {
      const { method, path, success, requestCodec: request, responseCodec: response } = form.operations[op]
      const described = paths[path.pattern]?.[method.toLowerCase()]
      expect(Object.keys(described?.responses ?? {})).toContain(String(success))
      const text = JSON.stringify([described, components.schemas])
      for (const { name } of [...request.slots, ...response.slots]) expect(text).toContain(`"${name.split('.').at(-1)}"`)
    }
  })

  it('S5: allows no field that it does not name in a request, and further ones in a response', () => {
    const isBody = ([name]: readonly [string, unknown]): boolean => Object.values<string>(bodyNames).includes(name)
    const bodies = Object.entries(components.schemas).filter(isBody)
    expect(bodies.map(([name]) => name)).toContain('NewTransaction')
    for (const [name, body] of bodies) expect(body.additionalProperties, name).toBe(false)
    const responses = Object.fromEntries(Object.entries(components.schemas).filter((entry) => !isBody(entry)))
    const objects = Object.values(responses).flatMap(objectsIn)
    expect(objects.length).toBeGreaterThan(6)
    for (const schema of objects) expect(schema.additionalProperties).not.toBe(false)
  })

  it('has examples of bodies that are valid, and no member of a body that is in the path', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(read(form), 'openapi')
    const bodies = Object.entries(paths).flatMap(([path, operations]) =>
      Object.values(operations).flatMap(({ requestBody }) =>
        requestBody ? [{ path, ...requestBody.content['application/json'] }] : [],
      ),
    )
    expect(bodies.length).toBeGreaterThan(0)
    for (const { path, schema, example } of bodies) {
      const isValid = ajv.getSchema(`openapi${schema.$ref}`)
      expect([path, isValid?.(example), isValid?.errors]).toEqual([path, true, null])
      const { properties = {} } = components.schemas[schema.$ref.slice('#/components/schemas/'.length)] ?? {}
      expect(Object.keys(properties).filter((name) => path.includes(`{${name}}`))).toEqual([])
    }
  })

  it('has its defaults in words: as `default` they would make types in which a caller must give them', () => {
    expect(openApi(form)).not.toContain('"default":')
    const described = JSON.stringify([paths, components.schemas.NewTransaction])
    for (const op of ops)
      for (const { defaultValue } of form.operations[op].requestCodec.slots)
        if (defaultValue !== undefined) expect(described).toContain(`Default: \`${defaultValue}\`.`)
  })

  it('S6: has the statuses of the form, and no others', () => {
    const name = form.operations.getTransaction.responseNames.get('status') ?? ''
    expect(components.schemas.Transaction?.properties?.[name]).toMatchObject({ enum: form.statuses })
  })
})

function objectsIn(schema: Schema): readonly Schema[] {
  const inner = Object.values(schema.properties ?? {}).flatMap(objectsIn)
  return schema.type === 'object' ? [schema, ...inner] : inner
}

it.each(forms)('the file of form $name is that of the form (npm run docs:openapi)', (form) => {
  expect(readFileSync(`docs/openapi/${form.name.toLowerCase()}.json`, 'utf8')).toBe(openApi(form))
})

describe.each([...forms, formC])('for clients of form $name that send `Prefer: amounts=text`', (form) => {
  const text = openApi(form, undefined, '', true)
  const { components, webhooks } = JSON.parse(text)

  it.runIf(form !== formC)('has a file of its own (npm run docs:openapi)', () => {
    expect(readFileSync(`docs/openapi/${form.name.toLowerCase()}-text.json`, 'utf8')).toBe(text)
  })

  it('has each amount as a string, in schemas and in examples', () => {
    const amounts = /"type": (?:"number"|\[\s*"number")/g
    expect(openApi(form).match(amounts)?.length).toBeGreaterThan(10)
    expect(text.match(amounts)).toBeNull()
    expect(text).toContain(': "0.10"')
    expect(text).not.toMatch(/: \d+\.\d/)
  })

  it('needs the header, and has no webhooks, whose amounts are numbers', () => {
    expect(components.parameters.Prefer).toMatchObject({ required: true, schema: { enum: ['amounts=text'] } })
    expect(webhooks).toBeUndefined()
  })
})

it('the examples keep their digits', () => {
  for (const form of forms) expect(openApi(form)).toContain(': 0.10')
})

it.each(forms)('the addresses of Bitcoin in the examples of form $name have a right checksum', (form) => {
  const addresses = openApi(form).match(/\bbc1\w+/g) ?? []
  expect(addresses).not.toEqual([])
  for (const address of addresses) expect([address, isBech32(address)]).toEqual([address, true])
})

describe.each(formNames)('at the mount of form %s', (form) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, form)
  })
  afterAll(() => pair.close())
  const path = `/${form.toLowerCase()}/openapi.json`
  const send = (method: string, headers: Record<string, string> = {}): Promise<ReceivedResponse> =>
    sendRequest(pair.gateway.url, { method, path, headers })

  test('the description is served as JSON, and HEAD is the same without it', async () => {
    const { status, headers, text } = await send('GET')
    expect([status, headers['content-type'], headers['x-swap-form']]).toEqual([200, 'application/json; charset=utf-8', form])
    expect(text).toBe(readFileSync(`docs${path.replace(/\/(.)\/openapi/, '/openapi/$1')}`, 'utf8'))
    const head = await send('HEAD')
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(Buffer.byteLength(text))])
    expect((await send('GET', { 'if-none-match': headers.etag ?? '' })).status).toBe(304)
  })

  test('with `?amounts=text` it is that for clients that prefer texts', async () => {
    const { status, text } = await sendRequest(pair.gateway.url, { method: 'GET', path: `${path}?amounts=text` })
    expect([status, text]).toEqual([200, readFileSync(`docs/openapi/${form.toLowerCase()}-text.json`, 'utf8')])
  })

  test('another method is 405, OPTIONS has the methods, and another form is refused', async () => {
    const allow = 'GET, HEAD, OPTIONS'
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const response = await send(method)
      expectRefusal(response, form, 405)
      expect(response.headers.allow).toBe(allow)
    }
    const options = await send('OPTIONS')
    expect([options.status, options.headers.allow]).toEqual([204, allow])
    expectRefusal(await send('GET', { 'x-swap-form': form === 'A' ? 'B' : 'A' }), form, 400)
  })

  test('nothing else is there', async () => {
    for (const other of [`${path}/`, `/${form.toLowerCase()}/api/v2/openapi.json`])
      expectRefusal(await sendRequest(pair.gateway.url, { path: other }), form, 404)
    for (const other of ['/openapi.json', '/api/v2/openapi.json'])
      expect((await sendRequest(pair.gateway.url, { path: other })).status).toBe(404)
  })
})

it('a third form has its description for nothing', async () => {
  const gateway = await startThree('A', 'http://127.0.0.1:9')
  const { status, bytes } = await gateway.handle({ method: 'GET', path: '/c/openapi.json', query: '', headers: {} })
  await gateway.close()
  expect([status, new TextDecoder().decode(bytes)]).toEqual([200, openApi(formC)])
  const { paths, components } = read(formC)
  expect(Object.keys(paths)).toEqual(['/assets', '/quote', '/swaps', '/swaps/{ref}'])
  expect(components.securitySchemes.key).toMatchObject({ type: 'apiKey', in: 'header', name: 'X-Toy-Token' })
  expect(components.schemas.Error?.required).toEqual(['problem', 'title', 'http_status'])
})
