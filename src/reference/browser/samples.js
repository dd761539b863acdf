/** A request as commands and programs that send it. The server writes the first ones, the page those of what is typed. */

/** A body as it is sent: numbers keep the digits that were typed. */
export function bodyOf(fields) {
  const given = fields.filter(({ text }) => text !== '')
  if (given.length === 0) return '{}'
  return `{\n${given.map(({ name, text, kind }) => `  ${JSON.stringify(name)}: ${jsonOf(text, kind)}`).join(',\n')}\n}`
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function jsonOf(text, kind) {
  if (kind === 'number' && jsonNumber.test(text)) return text
  if (kind === 'boolean' && /^(?:true|false)$/.test(text)) return text
  return JSON.stringify(text)
}

/** The path with its values and the query. What stays empty is left out. */
export function targetOf(pattern, fields) {
  let path = pattern
  const query = []
  for (const { name, text, place } of fields) {
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(text) || `{${name}}`)
    else if (place === 'query' && text !== '') query.push(`${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
  }
  return query.length === 0 ? path : `${path}?${query.join('&')}`
}

/** `request`: method, url, headers as pairs, body or undefined, whether its response is read as it comes. */
export function samplesOf(request) {
  return { curl: curl(request), typescript: typescript(request), python: python(request) }
}

function curl({ url, headers, body, isStream }) {
  const parts = [
    `curl -sS -i ${isStream ? '-N ' : ''}--fail-with-body ${shell(url)}`,
    ...headers.map(([name, value]) => `-H ${shell(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shell(body)}`]),
  ]
  return parts.join(' \\\n  ')
}

function shell(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function typescript({ method, url, headers, body, isStream }) {
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0
      ? []
      : ['  headers: {', ...headers.map(([name, value]) => `    ${literal(name)}: ${literal(value)},`), '  },']),
    ...(body === undefined ? [] : [`  body: \`${body.replaceAll(/[`\\]|\$\{/g, '\\$&')}\`,`]),
  ]
  const call = options.length === 0 ? `fetch(${literal(url)})` : `fetch(${literal(url)}, {\n${options.join('\n')}\n})`
  if (isStream)
    return `const response = await ${call}
if (!response.ok) throw new Error(\`\${response.headers.get('X-Swap-Reason')}: \${await response.text()}\`)
for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) console.log(text)`
  return `const response = await ${call}
const text = await response.text() // every digit
if (!response.ok) throw new Error(\`\${response.headers.get('X-Swap-Reason')}: \${text}\`)
console.log(text)`
}

function python({ method, url, headers, body, isStream }) {
  const options = [
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    ...(headers.length === 0
      ? []
      : ['    headers={', ...headers.map(([name, value]) => `        ${literal(name, '"')}: ${literal(value, '"')},`), '    },']),
    ...(body === undefined ? [] : [`    data='''${body.replaceAll(/[\\']/g, '\\$&')}'''.encode(),`]),
  ]
  const made =
    options.length === 0
      ? `urllib.request.Request(${literal(url, '"')})`
      : `urllib.request.Request(\n    ${literal(url, '"')},\n${options.join('\n')}\n)`
  if (isStream)
    return `import urllib.error, urllib.request

request = ${made}
try:
    for line in urllib.request.urlopen(request):
        print(line.decode(), end="", flush=True)
except urllib.error.HTTPError as error:
    raise SystemExit(f"{error.headers['X-Swap-Reason']}: {error.read().decode()}")`
  return `import decimal, json, urllib.error, urllib.request

request = ${made}
try:
    text = urllib.request.urlopen(request).read()
except urllib.error.HTTPError as error:
    raise SystemExit(f"{error.headers['X-Swap-Reason']}: {error.read().decode()}")
print(json.loads(text, parse_float=decimal.Decimal))`
}

/** A text of TypeScript or Python in one line. */
function literal(text, quote = "'") {
  const escaped = text.replaceAll(/[\\'"]/g, (character) =>
    character === '\\' || character === quote ? `\\${character}` : character,
  )
  const isControl = (character) => character < ' ' || character === '\u2028' || character === '\u2029'
  const printed = [...escaped].map((character) =>
    isControl(character) ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : character,
  )
  return quote + printed.join('') + quote
}
