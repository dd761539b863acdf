/** Secrets of the tests: the search for leaks uses them. */

/** By what they are. */
export const canaries = {
  clientKey: 'canary-client-key-7b1f',
  strangeKey: 'canary-strange-key-52ce',
  providerKey: 'canary-provider-key-9d03',
  withdrawalAddress: '0xCaNaRy0WithdrawalAddress0a1b2c3d4e5f6a7b',
  refundAddress: 'rCaNaRyRefundAddress1a2b3c4d5e6f',
  idempotencyKey: 'canary-idempotency-key-31',
  query: 'canary-query-word-4410',
} as const

/** `<what> in <where>` for each that is found; `places` are texts by where they were. */
export function leaks(
  places: Readonly<Record<string, string>>,
  words: Readonly<Record<string, string>> = canaries,
): readonly string[] {
  return Object.entries(places).flatMap(([where, text]) =>
    Object.entries(words)
      .filter(([, word]) => text.toLowerCase().includes(word.toLowerCase()))
      .map(([what]) => `${what} in ${where}`),
  )
}
