import { hashKey } from '../adapters/crypto.ts'
import type { Config, Provider } from '../config/index.ts'
import type { Destination } from '../core/destination.ts'

/** Enough to tell two keys of one provider apart. */
const digestLength = 16

/** Where creates of this configuration go. */
export function destinationOf(provider: Provider, { auth }: Pick<Config, 'auth'>): Destination {
  const { url, form, timezone, account, namesAccount, key, listKey } = provider
  const digestOf = (own: string): string | null => (auth.mode === 'managed' ? hashKey(own).slice(0, digestLength) : null)
  return {
    url: placeOf(url),
    form,
    timezone,
    account: namesAccount ? account : null,
    key: digestOf(key),
    listKey: digestOf(listKey || key),
  }
}

/** Origin and path, without credentials: a base URL means the same with and without slashes at its end. */
export function placeOf(url: string): string {
  const { origin, pathname } = new URL(url)
  let end = pathname.length
  while (pathname[end - 1] === '/') end--
  return origin + pathname.slice(0, end)
}
