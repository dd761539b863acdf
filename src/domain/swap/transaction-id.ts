/** A transaction's id as a provider gives it: it becomes one segment of a path. */

const maxLength = 256
const control = /[\u0000-\u001f\u007f-\u009f]/

/** False for what no path can carry: nothing, `.` and `..`, control characters, over 256 characters (docs/contract.md §4). */
export function isTransactionId(id: string): boolean {
  if (id === '' || id === '.' || id === '..' || control.test(id)) return false
  return id.length <= maxLength || [...id].length <= maxLength
}
