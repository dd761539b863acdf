const bytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Eight random hexadecimal digits for public ids: unique, but not secret. */
export function randomHex(value = Math.random() * 2 ** 32): string {
  const bits = value >>> 0
  return `${bytes[bits >>> 24]}${bytes[(bits >>> 16) & 255]}${bytes[(bits >>> 8) & 255]}${bytes[bits & 255]}`
}
