/** Why nothing was started, in one line. */
export class StartError extends Error {}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'the port may not be listened on',
  EADDRNOTAVAIL: 'the host is not an address of this machine',
  ENOTFOUND: 'the host is not known',
}

/** What `open` opens; a `StartError` names the section of the configuration that it is. */
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
    throw new StartError(`${section}: ${reason ? `cannot listen on ${host} port ${port}: ${reason}` : message}`, { cause })
  }
}
