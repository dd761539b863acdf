/** Entity tags (RFC 9110 §8.8.3): a response that the client already has is not sent again. */

/** The strong tag of a body: the same bytes, the same tag. */
export function entityTag(body: string): string {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let at = 0; at < body.length; at++) {
    const code = body.charCodeAt(at)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  return `"${hexadecimal(a ^ (b >>> 16))}${hexadecimal(b ^ (a >>> 13))}-${body.length.toString(16)}"`
}

function hexadecimal(number: number): string {
  return (number >>> 0).toString(16).padStart(8, '0')
}

/** Whether `If-None-Match` names the tag, strong or weak (RFC 9110 §13.1.2). */
export function matchesEtag(tag: string, ifNoneMatch: string): boolean {
  if (ifNoneMatch.trim() === '*') return true
  const named: readonly string[] | null = ifNoneMatch.match(/"[^"]*"/g)
  return named?.includes(tag) ?? false
}
