import { expect, it } from 'vitest'
import { proxyOf } from './egress.ts'

const [url, proxy] = ['https://api.provider.example/api/v2', 'http://proxy:3128']

it('the proxy is the one of the file, that of the environment, or none', () => {
  const environment = { HTTPS_PROXY: proxy }
  expect(proxyOf(url, 'http://own:1', environment)).toBe('http://own:1')
  expect(proxyOf(url, 'environment', environment)).toBe(proxy)
  expect(proxyOf(url, 'direct', environment)).toBe('')
  expect(proxyOf(url, 'environment', {})).toBe('')
})

it('small letters come first, and a scheme may be left out', () => {
  expect(proxyOf(url, 'environment', { https_proxy: 'small:1', HTTPS_PROXY: proxy })).toBe('http://small:1')
  expect(proxyOf(url, 'environment', { https_proxy: '', HTTPS_PROXY: proxy })).toBe(proxy)
  expect(proxyOf(url, 'environment', { HTTPS_PROXY: proxy, no_proxy: 'other', NO_PROXY: '*' })).toBe(proxy)
})

it.each(['http://api.provider.example', 'https://127.0.0.1:8443', 'https://localhost', 'https://[::1]:1/'])(
  'none for %s, which is not encrypted or stays on this machine',
  (direct) => {
    for (const setting of ['environment', proxy]) expect(proxyOf(direct, setting, { HTTPS_PROXY: proxy })).toBe('')
  },
)

it.each([
  ['*', true],
  ['api.provider.example', true],
  ['API.Provider.Example', true],
  ['provider.example', true],
  ['.provider.example', true],
  ['*.provider.example', true],
  ['first.example, provider.example', true],
  ['first.example provider.example', true],
  ['provider.example:443', true],
  ['provider.example:8443', false],
  ['rovider.example', false],
  ['other.api.provider.example', false],
  ['10.0.0.0/8', false],
  ['', false],
])('NO_PROXY %s: excluded is %s', (list, isExcluded) => {
  expect(proxyOf(url, 'environment', { HTTPS_PROXY: proxy, NO_PROXY: list })).toBe(isExcluded ? '' : proxy)
})

it.each([
  ['https://10.1.2.3', '10.0.0.0/8', true],
  ['https://11.1.2.3', '10.0.0.0/8', false],
  ['https://10.1.2.3', '10.1.2.3', true],
  ['https://10.1.2.3:8443', '10.1.2.3:8443', true],
  ['https://10.1.2.3', '2.3', false],
  ['https://[fd00::1]', 'fd00::/8', true],
  ['https://[fd00::1]', 'fd00::1', true],
  ['https://[fd00::1]', '[fd00::1]:443', true],
  ['https://10.1.2.3', '10.0.0.0/99', false],
])('%s with NO_PROXY %s: excluded is %s', (address, list, isExcluded) => {
  expect(proxyOf(address, 'environment', { HTTPS_PROXY: proxy, NO_PROXY: list })).toBe(isExcluded ? '' : proxy)
})
