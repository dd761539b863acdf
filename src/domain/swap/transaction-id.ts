/** A provider's transaction id. It is used as one segment of a path. */

const tagPattern = /^[a-z0-9]{1,16}$/
const maxLength = 256
const control = /[\u0000-\u001f\u007f-\u009f]/

/** False if a path cannot contain the id: empty, `.`, `..`, control characters, over 256 characters (docs/contract.md §4). */
export function isTransactionId(id: string): boolean {
  if (id === '' || id === '.' || id === '..' || control.test(id)) return false
  return id.length <= maxLength || [...id].length <= maxLength
}

/** Whether a provider can have this tag. */
export function isTag(text: string): boolean {
  return tagPattern.test(text)
}
