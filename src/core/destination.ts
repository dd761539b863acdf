/** Where a create is sent: a list that is read elsewhere later does not prove that it made nothing (docs/contract.md §10.5). */
export interface Destination {
  /** Origin and path. */
  readonly url: string
  readonly form: string
  readonly timezone: string
  /** `providers.<name>.account`; null if the file names none. */
  readonly account: string | null
  /** A digest of the gateway's own key; null where clients send theirs. */
  readonly key: string | null
  /** The same of the key that lists transactions; absent in rows of older versions. */
  readonly listKey?: string | null
}

/** What differs. Another key of the account that both name is no difference. */
export function differences(before: Destination, after: Destination): readonly (keyof Destination)[] {
  const isNamed = before.account !== null && after.account !== null
  const isSameAccount = isNamed && before.account === after.account
  const isSame: Readonly<Record<keyof Destination, boolean>> = {
    url: before.url === after.url,
    form: before.form === after.form,
    timezone: before.timezone === after.timezone,
    account: !isNamed || before.account === after.account,
    key: before.key === after.key || isSameAccount,
    listKey: before.listKey === undefined || before.listKey === after.listKey || isSameAccount || before.key !== after.key,
  }
  return (['url', 'form', 'timezone', 'account', 'key', 'listKey'] as const).filter((part) => !isSame[part])
}
