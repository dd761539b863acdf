const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'the port may not be listened on',
  EADDRNOTAVAIL: 'the host is not an address of this machine',
  ENOTFOUND: 'the host is not known',
}

/** What `open` opens. Throws, in one line for an operator, which section of the configuration could not be had, and why. */
export async function listening<T>(
  section: 'server' | 'admin' | 'sandbox',
  { host, port }: { readonly host: string; readonly port: number },
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open()
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException
    const reason = reasons[code]
    throw new Error(`${section}: ${reason ? `cannot listen on ${host} port ${port}: ${reason}` : message}`, { cause })
  }
}
