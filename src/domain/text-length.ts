/** Total length of the row's strings: an estimate of its memory. */
export function textLength(row: object): number {
  let length = 0
  for (const value of Object.values(row)) if (typeof value === 'string') length += value.length
  return length
}
