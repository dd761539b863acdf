/**
 * What shared modules do after each test, and after each file. A hook of their own would run only in the first file of a
 * process: files share the modules that they import.
 */
export const afterEachTest = new Set<() => Promise<void>>()
export const afterEachFile = new Set<() => Promise<void>>()
