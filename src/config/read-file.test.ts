// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references are written so
import { describe, expect, it } from 'vitest'
import { Faults } from './faults.ts'
import { interpolate } from './read-file.ts'

const files: Readonly<Record<string, string>> = { '/run/secrets/alpha': 'key-from-file\n' }

function fill(text: string) {
  const faults = new Faults()
  const readFile = (path: string): string => {
    const content = files[path]
    if (content === undefined) throw new Error('no such file')
    return content
  }
  const tree = interpolate({ here: [text] }, { environment: { HOST: 'example', EMPTY: '', NESTED: '${HOST}' }, readFile }, faults)
  return { text: (tree as { here: string[] }).here[0], faults: faults.all }
}

describe('a reference', () => {
  it.each([
    ['${HOST}', 'example'],
    ['http://${HOST}:80/${HOST}', 'http://example:80/example'],
    ['${EMPTY}', ''],
    ['${MISSING:-default}', 'default'],
    ['${MISSING:-}', ''],
    ['${MISSING:-sqlite:data/x.db}', 'sqlite:data/x.db'],
    ['${EMPTY:-default}', 'default'],
    ['${HOST:-default}', 'example'],
    ['${file:/run/secrets/alpha}', 'key-from-file'],
    ['$HOST', '$HOST'],
    ['a $ and { and }', 'a $ and { and }'],
  ])('%s is %s', (reference, value) => {
    expect(fill(reference)).toEqual({ text: value, faults: [] })
  })

  it('is not resolved inside of a resolved value', () => {
    expect(fill('${NESTED}').text).toBe('${HOST}')
  })

  it.each([
    ['${MISSING}', 'the environment variable MISSING is not set'],
    ['${ALPHA_2_KEY}', 'the environment variable ALPHA_2_KEY is not set'],
    ['${sk_live_51H8xQ2eZvKYlo2C}', 'the environment variable <24 characters> is not set'],
    ['${file:/run/secrets/beta}', 'the file /run/secrets/beta cannot be read'],
    ['${HOST', 'a reference must be ${NAME}, ${NAME:-default} or ${file:path}'],
    ['${HOST:default}', 'a reference must be ${NAME}, ${NAME:-default} or ${file:path}'],
    ['${}', 'a reference must be ${NAME}, ${NAME:-default} or ${file:path}'],
    ['${1HOST}', 'a reference must be ${NAME}, ${NAME:-default} or ${file:path}'],
  ])('%s is a fault at its path', (reference, message) => {
    expect(fill(reference).faults).toEqual([{ path: 'here.0', message }])
  })
})
