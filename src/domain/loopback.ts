const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/

/** Whether a host (as in `URL.hostname`) or an address is this machine's loopback interface. */
export function isLoopback(host: string): boolean {
  return loopback.test(host)
}
