/** By system call and code. */
const reasons: Readonly<Record<string, string>> = {
  'listen EADDRINUSE': 'the port is in use',
  'listen EACCES': 'the port may not be listened on',
  'listen EADDRNOTAVAIL': 'the host is not an address of this machine',
  'getaddrinfo ENOTFOUND': 'the host is not known',
}

/** Runs `open`. If it fails, throws an error with one line for the operator: the section of the configuration, and the cause. */
export async function withListenError<T>(
  section: 'server' | 'admin' | 'sandbox',
  { host, port }: { readonly host: string; readonly port: number },
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open()
  } catch (cause) {
    const error: NodeJS.ErrnoException = cause instanceof Error ? cause : new Error(String(cause))
    const { syscall, code, message } = error
    const reason = reasons[`${syscall} ${code}`]
    throw new Error(`${section}: ${reason ? `cannot listen on ${host} port ${port}: ${reason}` : message}`, { cause })
  }
}
