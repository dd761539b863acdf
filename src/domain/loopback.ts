const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/

/** Whether a host, as `URL.hostname` or an address, is this machine by its loopback interface. */
export function isLoopback(host: string): boolean {
  return loopback.test(host)
}
